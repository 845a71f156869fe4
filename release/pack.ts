/**
 * Builds every published package and packs it into a tarball, as it goes to the registry:
 *
 *     npx -y pnpm@12 run pack                                            into tarballs/
 *     npx -y pnpm@12 run pack --out <folder>                             into another folder
 *     npx -y pnpm@12 run pack --repository https://github.com/<o>/<n>    for a release: names the repository
 *
 * A release needs the repository: provenance is refused for a package whose manifest does not name the repository that
 * built it. `--release` therefore fails without one. The manifests are restored afterwards.
 */
import { execFileSync } from "node:child_process"
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { parseArgs } from "node:util"

const root = resolve(import.meta.dirname, "..")

interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
}

/** A manifest with the repository that it is built from. */
export const withRepository = (manifest: object, repository: string, directory: string): object => ({
  ...manifest,
  repository: { type: "git", url: `git+${repository}.git`, directory }
})

/** Returns the address of a repository as manifests name it, or throws a sentence that names the mistake. */
export const parseRepository = (value: string): string => {
  const address = value.replace(/\.git$/, "").replace(/\/$/, "")
  if (!/^https:\/\/[^/\s]+\/[^/\s]+\/[^/\s]+$/.test(address))
    throw new Error(`--repository expects https://<host>/<owner>/<name> (got "${value}")`)
  return address
}

const pnpm = (cwd: string, ...args: ReadonlyArray<string>): void => {
  execFileSync("npx", ["-y", "pnpm@12", ...args], { cwd, stdio: ["ignore", "pipe", "inherit"] })
}

/** The folders of the packages that are published. */
export const publishedFolders = (): ReadonlyArray<string> =>
  globSync("{packages,apps}/*/package.json", { cwd: root })
    .filter((path) => (JSON.parse(readFileSync(join(root, path), "utf8")) as Manifest).private !== true)
    .map(dirname)
    .sort()

const pack = (folder: string, out: string, repository: string | undefined): string => {
  const path = join(root, folder, "package.json")
  const text = readFileSync(path, "utf8")
  const manifest = JSON.parse(text) as Manifest
  const packed = `${manifest.name.replace("@", "").replace("/", "-")}-${manifest.version}.tgz`
  const tarball = join(out, packed)
  rmSync(tarball, { force: true })
  try {
    if (repository !== undefined)
      writeFileSync(path, `${JSON.stringify(withRepository(manifest, repository, folder), null, 2)}\n`)
    pnpm(join(root, folder), "pack", "--pack-destination", out)
  } finally {
    writeFileSync(path, text)
  }
  return tarball
}

const main = (): void => {
  const { values } = parseArgs({
    options: {
      out: { type: "string", default: join(root, "tarballs") },
      release: { type: "boolean", default: false },
      repository: { type: "string" }
    }
  })
  const { GITHUB_REPOSITORY: name, GITHUB_SERVER_URL: host } = process.env
  const given = values.repository ?? (values.release && name && host ? `${host}/${name}` : undefined)
  if (values.release && given === undefined) {
    throw new Error(
      "A release names the repository that it is built from: pass --repository https://<host>/<owner>/<name>"
    )
  }
  const repository = given === undefined ? undefined : parseRepository(given)
  const out = resolve(values.out)
  mkdirSync(out, { recursive: true })
  console.error("Building the packages (about half a minute)")
  pnpm(root, "build")
  for (const folder of publishedFolders()) console.log(relative(process.cwd(), pack(folder, out, repository)))
}

if (import.meta.main) {
  try {
    main()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
