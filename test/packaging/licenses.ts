/**
 * Lists the licenses of all dependencies, and fails if one is not compatible with the MIT license:
 *
 *     npx -y pnpm@12 run licenses
 *
 * Works offline: it reads the licenses of installed packages.
 */
import { existsSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { locked } from "./support/lockfile.ts"
import { pnpm } from "./support/pnpm.ts"

const root = resolve(import.meta.dirname, "../..")

/** A dependency. `published` reaches users, `tool` is used to build and test. */
export interface Dependency {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly use: "published" | "tool"
}

// Require to keep the notice only.
const permissive = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "OFL-1.1",
  "PostgreSQL",
  "Python-2.0",
  "Unlicense"
])

// Require the source of changed files. Tools are used unchanged and are not published.
const forTools = new Set(["MPL-2.0"])

// `OR` allows a choice, `AND` does not. Any other expression is refused and needs a review.
const isAllowed = ({ license, use }: Dependency): boolean =>
  license
    .replaceAll(/[()]/g, "")
    .split(" OR ")
    .some((choice) =>
      choice.split(" AND ").every((part) => permissive.has(part) || (use === "tool" && forTools.has(part)))
    )

/** Returns the dependencies with a license that is not allowed for their use. */
export const refused = (dependencies: ReadonlyArray<Dependency>): ReadonlyArray<Dependency> =>
  dependencies.filter((dependency) => !isAllowed(dependency))

type Listed = Readonly<
  Record<string, ReadonlyArray<{ readonly name: string; readonly versions: ReadonlyArray<string> }>>
>

const list = (...args: ReadonlyArray<string>): ReadonlyArray<Omit<Dependency, "use">> => {
  const listed = JSON.parse(pnpm(root, "licenses", "list", "--json", ...args)) as Listed
  return Object.entries(listed).flatMap(([license, packages]) =>
    packages.flatMap(({ name, versions }) => versions.map((version) => ({ name, version, license })))
  )
}

const notices = resolve(root, "apps/server/dist/THIRD-PARTY-NOTICES.md")

/** Returns the packages in the bundle of the server. It must be built. */
export const bundled = (): ReadonlyArray<Omit<Dependency, "use">> =>
  existsSync(notices)
    ? Array.from(
        readFileSync(notices, "utf8").matchAll(/^## (\S+) (\S+) \((.+)\)$/gm),
        ([, name, version, license]) => ({
          name: name!,
          version: version!,
          license: license!
        })
      )
    : []

const key = ({ name, version }: { readonly name: string; readonly version: string }): string => `${name}@${version}`

/** Returns the installed packages with their licenses. */
export const dependencies = (): ReadonlyArray<Dependency> => {
  const filters = ["--filter", "./packages/*", "--filter", "@govoice/server"]
  const published = new Set([...list("--prod", ...filters), ...bundled()].map(key))
  return list("-r").map((dependency) => ({ ...dependency, use: published.has(key(dependency)) ? "published" : "tool" }))
}

// Parts of WebAssembly builds, which are not installed where a native build exists. All are MIT on npm.
const readOnNpm = new Set([
  "@emnapi/core",
  "@emnapi/runtime",
  "@emnapi/wasi-threads",
  "@napi-rs/wasm-runtime",
  "@tybys/wasm-util"
])

/**
 * Returns the packages that are locked but not installed, whose license cannot be read. Builds for other platforms are
 * expected: each has the license of its package, which is installed.
 */
export const unread = (found: ReadonlyArray<Dependency>): ReadonlyArray<string> => {
  const read = new Set(found.map(key))
  return locked().flatMap((entry) =>
    read.has(key(entry)) || entry.forSomePlatforms || readOnNpm.has(entry.name) ? [] : [key(entry)]
  )
}

const main = (): void => {
  const found = dependencies()
  for (const use of ["published", "tool"] as const) {
    const byLicense = Map.groupBy(
      found.filter((dependency) => dependency.use === use),
      ({ license }) => license
    )
    console.log(use === "published" ? "Reaches users:" : "\nTools:")
    for (const [license, members] of [...byLicense].sort(([a], [b]) => (a < b ? -1 : 1))) {
      console.log(`  ${license} (${members.length}): ${members.map(({ name }) => name).join(", ")}`)
    }
  }
  const faults = [
    ...refused(found).map(
      (fault) => `${key(fault)} is under ${fault.license}, which does not go with MIT (${fault.use})`
    ),
    ...unread(found).map((name) => `${name} is locked and not installed: its license cannot be read`)
  ]
  console.log(`\n${found.length} dependencies, ${faults.length} faults`)
  for (const fault of faults) console.error(fault)
  process.exitCode = faults.length === 0 ? 0 : 1
}

if (import.meta.main) main()
