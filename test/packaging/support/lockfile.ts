/**
 * Reads the locked packages from the lockfile, line by line: pnpm always writes the same layout.
 */
import { readFileSync } from "node:fs"
import { resolve } from "node:path"

export interface Locked {
  readonly name: string
  readonly version: string
  /** `sha512-` and base64. */
  readonly integrity: string | undefined
  /** Whether it is a platform-specific build. */
  readonly forSomePlatforms: boolean
}

const path = resolve(import.meta.dirname, "../../../pnpm-lock.yaml")

/** Returns the locked packages. */
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
