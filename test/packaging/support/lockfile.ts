/**
 * What the lockfile says of the packages it locks, as far as it is needed here. It is written by a program, always the
 * same way, so that lines are enough to read it by.
 */
import { readFileSync } from "node:fs"
import { resolve } from "node:path"

export interface Locked {
  readonly name: string
  readonly version: string
  /** `sha512-` and base64. */
  readonly integrity: string | undefined
  /** Whether it is a build for some platforms alone. */
  readonly forSomePlatforms: boolean
}

const path = resolve(import.meta.dirname, "../../../pnpm-lock.yaml")

/** Every package that is locked. */
export const locked = (text: string = readFileSync(path, "utf8")): ReadonlyArray<Locked> => {
  const [, packages = ""] = /^packages:\n([^]*?)^\S/m.exec(text) ?? []
  return packages
    .split(/^ {2}(?=\S)/m)
    .slice(1)
    .map((entry) => {
      const [, name = "", version = ""] = /^'?(@?[^@'\s]+)@([^'\s:]+)'?:/.exec(entry) ?? []
      return {
        name,
        version,
        integrity: /integrity: ([^},\s]+)/.exec(entry)?.[1],
        forSomePlatforms: /^ {4}(?:os|cpu|libc):/m.test(entry)
      }
    })
}
