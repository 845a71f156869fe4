/**
 * Lists the licence of everything that Govoice depends on, and fails when one does not go with the MIT licence:
 *
 *     npx -y pnpm@12 run licences
 *
 * It asks no network: licences are read from what is installed.
 */
import { existsSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { locked } from "./support/lockfile.ts"
import { pnpm } from "./support/pnpm.ts"

const root = resolve(import.meta.dirname, "../..")

/** A dependency, and where it ends up: with users, or on the machines of those who build. */
export interface Dependency {
  readonly name: string
  readonly version: string
  readonly licence: string
  readonly use: "published" | "tool"
}

// Ask no more than to keep their notice.
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
  "PostgreSQL",
  "Python-2.0",
  "Unlicense"
])

// Ask for the source of changes to their own files. We change none and publish none.
const forTools = new Set(["MPL-2.0"])

// `OR` leaves the choice to us, `AND` does not; whatever is written in another way is looked at by a person.
const isAllowed = ({ licence, use }: Dependency): boolean =>
  licence
    .replaceAll(/[()]/g, "")
    .split(" OR ")
    .some((choice) =>
      choice.split(" AND ").every((part) => permissive.has(part) || (use === "tool" && forTools.has(part)))
    )

/** Those whose licence may not be used so. */
export const refused = (dependencies: ReadonlyArray<Dependency>): ReadonlyArray<Dependency> =>
  dependencies.filter((dependency) => !isAllowed(dependency))

type Listed = Readonly<
  Record<string, ReadonlyArray<{ readonly name: string; readonly versions: ReadonlyArray<string> }>>
>

const list = (...args: ReadonlyArray<string>): ReadonlyArray<Omit<Dependency, "use">> => {
  const listed = JSON.parse(pnpm(root, "licenses", "list", "--json", ...args)) as Listed
  return Object.entries(listed).flatMap(([licence, packages]) =>
    packages.flatMap(({ name, versions }) => versions.map((version) => ({ name, version, licence })))
  )
}

const notices = resolve(root, "apps/server/dist/THIRD-PARTY-NOTICES.md")

/** What the bundle of the server has inside, once it is built. */
export const bundled = (): ReadonlyArray<Omit<Dependency, "use">> =>
  existsSync(notices)
    ? Array.from(
        readFileSync(notices, "utf8").matchAll(/^## (\S+) (\S+) \((.+)\)$/gm),
        ([, name, version, licence]) => ({
          name: name!,
          version: version!,
          licence: licence!
        })
      )
    : []

const key = ({ name, version }: { readonly name: string; readonly version: string }): string => `${name}@${version}`

/** Everything that is installed here, with its licence. */
export const dependencies = (): ReadonlyArray<Dependency> => {
  const filters = ["--filter", "./packages/*", "--filter", "@govoice/server"]
  const published = new Set([...list("--prod", ...filters), ...bundled()].map(key))
  return list("-r").map((dependency) => ({ ...dependency, use: published.has(key(dependency)) ? "published" : "tool" }))
}

// Parts of builds for WebAssembly, which are installed nowhere that has a build of its own. All are MIT, as npm has it.
const readOnNpm = new Set([
  "@emnapi/core",
  "@emnapi/runtime",
  "@emnapi/wasi-threads",
  "@napi-rs/wasm-runtime",
  "@tybys/wasm-util"
])

/**
 * What is locked and not installed here, so that its licence cannot be read. Builds for other platforms are expected
 * among them: each belongs to a package that is installed, and is published with it under the same licence.
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
    const byLicence = Map.groupBy(
      found.filter((dependency) => dependency.use === use),
      ({ licence }) => licence
    )
    console.log(use === "published" ? "Reaches users:" : "\nStays with whoever builds:")
    for (const [licence, members] of [...byLicence].sort(([a], [b]) => (a < b ? -1 : 1))) {
      console.log(`  ${licence} (${members.length}): ${members.map(({ name }) => name).join(", ")}`)
    }
  }
  const faults = [
    ...refused(found).map(
      (fault) => `${key(fault)} is under ${fault.licence}, which does not go with MIT (${fault.use})`
    ),
    ...unread(found).map((name) => `${name} is locked and not installed: its licence cannot be read`)
  ]
  console.log(`\n${found.length} dependencies, ${faults.length} faults`)
  for (const fault of faults) console.error(fault)
  process.exitCode = faults.length === 0 ? 0 : 1
}

if (import.meta.main) main()
