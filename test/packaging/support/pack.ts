/**
 * Packs packages once, like a release. Builds a package first if its sources are newer than its build.
 */
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import type { TestProject } from "vitest/node"
import { pnpm } from "./pnpm.ts"

const root = resolve(import.meta.dirname, "../../..")

export interface Packed {
  readonly name: string
  /** Relative to the root of the repository. */
  readonly folder: string
  readonly tarball: string
}

declare module "vitest" {
  interface ProvidedContext {
    packed: ReadonlyArray<Packed>
  }
}

const modified = (file: string): number => statSync(file).mtimeMs

const isStale = (folder: string): boolean => {
  const [built] = globSync("dist/{index,cli}.js", { cwd: folder })
  if (built === undefined) return true
  const sources = globSync(["src/**/*", "package.json", "tsup.config.ts"], { cwd: folder })
  return sources.some((source) => modified(join(folder, source)) > modified(join(folder, built)))
}

const packedIn = (into: string, folder: string): Packed => {
  const { name, version } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as {
    readonly name: string
    readonly version: string
  }
  const tarball = join(into, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`)
  if (!existsSync(tarball)) throw new Error(`${folder} was not packed`)
  return { name, folder, tarball }
}

/** Makes the setup that packs these folders, in the order of their dependencies: types are built from those of imported packages. */
export const setup =
  (folders: ReadonlyArray<string>) =>
  ({ provide }: TestProject): (() => void) => {
    const into = mkdtempSync(join(tmpdir(), "govoice-packed-"))
    for (const folder of folders) if (isStale(join(root, folder))) pnpm(join(root, folder), "run", "build")
    // All at once: pnpm takes longer to start than to pack.
    const filters = folders.flatMap((folder) => ["--filter", `./${folder}`])
    pnpm(root, "--recursive", ...filters, "pack", "--pack-destination", into)
    provide(
      "packed",
      folders.map((folder) => packedIn(into, folder))
    )
    return () => rmSync(into, { recursive: true, force: true })
  }

const names = ["core", "api", "webhooks", "dispatcher", "client", "ksef-simulator"]

export default setup([...names.map((name) => `packages/${name}`), "apps/server"])
