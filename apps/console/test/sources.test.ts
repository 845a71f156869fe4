/**
 * Conventions of the sources: no HTML sinks, class names that exist, texts in their tables.
 */
import { globSync, readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { assert, describe, it } from "vitest"

const root = join(import.meta.dirname, "..")
const read = (file: string) => readFileSync(join(root, file), "utf8")
const sources = globSync("src/**/*.{ts,tsx}", { cwd: root })

describe("the sources of the console", () => {
  it("use no sink of HTML or code", () => {
    const sinks =
      /dangerouslySetInnerHTML|\.(?:innerHTML|outerHTML)\b|insertAdjacentHTML|document\.write|\beval\(|new Function\(|javascript:|DOMParser/
    assert.deepStrictEqual(
      sources.filter((file) => sinks.test(read(file))),
      []
    )
  })

  it("use the storage of the browser for the preferences and the theme only", () => {
    const stores = sources.filter((file) =>
      /\b(?:localStorage|sessionStorage|indexedDB|document\.cookie)\b/.test(read(file))
    )
    assert.sameMembers([...stores], ["src/ui/preferences.ts", "src/theme.ts"])
  })

  it("call no function of console", () => {
    assert.deepStrictEqual(
      sources.filter((file) => /\bconsole\.\w+\(/.test(read(file).replaceAll(/`[^`]*`/g, ""))),
      []
    )
  })

  it("have no link whose href is computed", () => {
    assert.deepStrictEqual(
      sources.filter((file) => /\shref=\{/.test(read(file))),
      []
    )
  })

  it("use only class names that their CSS module has", () => {
    const faults = sources.flatMap((file) => {
      const source = read(file)
      const module = /import styles from "\.\/(.+\.module\.css)"/.exec(source)?.[1]
      if (module === undefined) return []
      const known = new Set(
        Array.from(read(join(dirname(file), module)).matchAll(/\.([a-z][\w-]*)/gi), ([, name]) => name)
      )
      const used = Array.from(source.matchAll(/\bcss\(([^()]*)\)/g), ([, list]) => list!)
        .flatMap((list) => Array.from(list.matchAll(/"([a-z][\w-]*)"/gi), ([, name]) => name!))
        .filter((name) => !["live", "small", "neutral", "endpoint"].includes(name))
      return used.filter((name) => !known.has(name)).map((name) => `${basename(file)}: ${name}`)
    })
    assert.deepStrictEqual(faults, [])
  })
})
