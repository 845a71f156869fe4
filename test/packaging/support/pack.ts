/**
 * Packs packages once, like a release. Builds a package first if its sources are newer than its build.
 */
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join, resolve } from "node:path"
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

const pack = (folder: string, into: string): Packed => {
  const { name } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as { readonly name: string }
  if (isStale(join(root, folder))) pnpm(join(root, folder), "run", "build")
  const before = new Set(globSync("*.tgz", { cwd: into }))
  pnpm(join(root, folder), "pack", "--pack-destination", into)
  const [tarball] = globSync("*.tgz", { cwd: into }).filter((file) => !before.has(file))
  if (tarball === undefined || !existsSync(join(into, tarball))) throw new Error(`${folder} was not packed`)
  return { name, folder, tarball: join(into, basename(tarball)) }
}

/** Makes the setup that packs these folders, in the order of their dependencies: types are built from those of imported packages. */
export const setup =
  (folders: ReadonlyArray<string>) =>
  ({ provide }: TestProject): (() => void) => {
    const into = mkdtempSync(join(tmpdir(), "govoice-packed-"))
    provide(
      "packed",
      folders.map((folder) => pack(folder, into))
    )
    return () => rmSync(into, { recursive: true, force: true })
  }

const names = ["core", "api", "webhooks", "dispatcher", "client", "ksef-simulator"]

export default setup([...names.map((name) => `packages/${name}`), "apps/server"])
