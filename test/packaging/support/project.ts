/**
 * Creates an empty project outside of the repository, with packages installed from their tarballs.
 */
import { execFile, execFileSync } from "node:child_process"
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join, resolve } from "node:path"
import { promisify } from "node:util"
import { inject } from "vitest"
import { pnpm } from "./pnpm.ts"

const programs = resolve(import.meta.dirname, "../programs")
const root = resolve(import.meta.dirname, "../../..")

/** The Node of the projects: CONSUMER_NODE, or the Node of the tests. */
export const node = process.env["CONSUMER_NODE"] ?? process.execPath

const versionOf = (path: string): ReadonlyArray<number> =>
  execFileSync(path, ["--version"], { encoding: "utf8" }).trim().slice(1).split(".").map(Number)

/** Whether the Node of the projects is at least 22.19. */
export const isNewNode = ((): boolean => {
  const [major = 0, minor = 0] = versionOf(node)
  return major > 22 || (major === 22 && minor >= 19)
})()

export interface Project {
  readonly folder: string
  /** Copies programs of `test/packaging/programs` into the project. */
  readonly copy: (...names: ReadonlyArray<string>) => void
  readonly write: (name: string, text: string) => void
  /** Runs Node in the project and returns its output. */
  readonly run: (...args: ReadonlyArray<string>) => string
  /** Runs a program in the project, while this process can serve it, and resolves with its output. */
  readonly execute: (
    program: string,
    args: ReadonlyArray<string>,
    environment?: Readonly<Record<string, string>>
  ) => Promise<string>
  readonly remove: () => void
}

interface Options {
  readonly packages: ReadonlyArray<string>
  /** Further packages by name, in the versions of this repository. */
  readonly tools?: ReadonlyArray<string>
  /** Further packages in versions of their own. */
  readonly others?: Readonly<Record<string, string>>
  readonly type?: "commonjs" | "module"
}

// A tool of the root, a dependency of a package, or a transitive dependency.
const versionHere = (name: string): string => {
  const folders = ["node_modules", "packages/core/node_modules", "node_modules/.pnpm/node_modules"]
  const manifest = folders.map((folder) => join(root, folder, name, "package.json")).find((path) => existsSync(path))
  if (manifest === undefined) throw new Error(`${name} is not installed here`)
  return (JSON.parse(readFileSync(manifest, "utf8")) as { readonly version: string }).version
}

const environment = (): NodeJS.ProcessEnv => ({ PATH: process.env["PATH"], HOME: process.env["HOME"] })

/** Creates a project that installs the named packages only and cannot resolve anything of this repository. */
export const makeProject = ({ packages, tools = [], others = {}, type }: Options): Project => {
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
      ...Object.fromEntries(tools.map((name) => [name, versionHere(name)])),
      ...others
    }
  }
  write("package.json", JSON.stringify(manifest, null, 2))
  // The packages depend on each other by a version that is not published yet.
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
    execute: async (program, args, more = {}) => {
      const options = { cwd: folder, env: { ...environment(), ...more }, maxBuffer: 64 * 1024 * 1024 }
      const { stdout } = await promisify(execFile)(program, args, options).catch((error: unknown) => {
        const { stderr, stdout } = error as { readonly stderr: string; readonly stdout: string }
        throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: error })
      })
      return stdout
    },
    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}
