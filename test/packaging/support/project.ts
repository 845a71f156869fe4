/**
 * An empty project outside of the repository, with packages installed from their tarballs.
 */
import { execFileSync } from "node:child_process"
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join, resolve } from "node:path"
import { inject } from "vitest"
import { pnpm } from "./pnpm.ts"

const programs = resolve(import.meta.dirname, "../programs")
const root = resolve(import.meta.dirname, "../../..")

/** The Node that projects run on: that of the tests, or the one that CONSUMER_NODE names. */
export const node = process.env["CONSUMER_NODE"] ?? process.execPath

const versionOf = (path: string): ReadonlyArray<number> =>
  execFileSync(path, ["--version"], { encoding: "utf8" }).trim().slice(1).split(".").map(Number)

/** Whether the Node of the projects is new enough for the packages that ask for 22.19. */
export const isNewNode = ((): boolean => {
  const [major = 0, minor = 0] = versionOf(node)
  return major > 22 || (major === 22 && minor >= 19)
})()

export interface Project {
  readonly folder: string
  /** Copies programs of `test/packaging/programs` into the project. */
  readonly copy: (...names: ReadonlyArray<string>) => void
  readonly write: (name: string, text: string) => void
  /** Runs Node in the project, and returns what it printed. */
  readonly run: (...args: ReadonlyArray<string>) => string
  readonly remove: () => void
}

interface Options {
  readonly packages: ReadonlyArray<string>
  /** Further packages, by name, in the version that this repository has of them. */
  readonly tools?: ReadonlyArray<string>
  readonly type?: "commonjs" | "module"
}

// A tool of the root, a dependency of a package, or what only another tool brings along.
const versionHere = (name: string): string => {
  const folders = ["node_modules", "packages/core/node_modules", "node_modules/.pnpm/node_modules"]
  const manifest = folders.map((folder) => join(root, folder, name, "package.json")).find((path) => existsSync(path))
  if (manifest === undefined) throw new Error(`${name} is not installed here`)
  return (JSON.parse(readFileSync(manifest, "utf8")) as { readonly version: string }).version
}

const environment = (): NodeJS.ProcessEnv => ({ PATH: process.env["PATH"], HOME: process.env["HOME"] })

/** Makes a project. Nothing of this repository is in reach of it, and it installs what it names and nothing else. */
export const makeProject = ({ packages, tools = [], type }: Options): Project => {
  const folder = mkdtempSync(join(tmpdir(), "govoice-project-"))
  const packed = new Map(inject("packed").map(({ name, tarball }) => [name, `file:${tarball}`]))
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  const copy = (...names: ReadonlyArray<string>) => {
    for (const name of names) copyFileSync(join(programs, name), join(folder, basename(name)))
  }

  const manifest = {
    name: "stranger",
    private: true,
    ...(type === undefined ? {} : { type }),
    dependencies: {
      ...Object.fromEntries(packages.map((name) => [name, packed.get(name)!])),
      ...Object.fromEntries(tools.map((name) => [name, versionHere(name)]))
    }
  }
  write("package.json", JSON.stringify(manifest, null, 2))
  // The packages name each other by version, and no registry has that version yet.
  const overrides = [...packed].map(([name, tarball]) => `  "${name}": "${tarball}"`)
  write("pnpm-workspace.yaml", ["autoInstallPeers: false", "overrides:", ...overrides, ""].join("\n"))
  pnpm(folder, "install", "--prefer-offline", "--ignore-scripts", "--silent")

  return {
    folder,
    copy,
    write,
    run: (...args) => {
      try {
        return execFileSync(node, args, { cwd: folder, encoding: "utf8", env: environment(), stdio: "pipe" })
      } catch (error) {
        const { stderr, stdout } = error as { readonly stderr: string; readonly stdout: string }
        throw new Error(`node ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: error })
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}
