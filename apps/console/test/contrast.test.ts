/**
 * The contrast of the colors, computed from tokens.css: 4.5 for text, 3 for the edges of controls, in both themes.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"

const css = readFileSync(join(import.meta.dirname, "../src/styles/tokens.css"), "utf8")

const tokens = new Map(
  Array.from(css.matchAll(/--([\w-]+): light-dark\((#[\da-f]{6}), (#[\da-f]{6})\)/g), ([, name, light, dark]) => [
    name!,
    { light: light!, dark: dark! }
  ])
)

const luminance = (color: string): number => {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const contrast = (one: string, other: string): number => {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

const grounds = ["canvas", "surface", "sunken"]
const tones = ["good", "warn", "bad", "info"]

const texts: ReadonlyArray<readonly [string, string]> = [
  ...["text", "muted"].flatMap((text) => [...grounds, "info-ground"].map((ground) => [text, ground] as const)),
  ...tones.map((tone) => [tone, `${tone}-ground`] as const),
  ...tones.map((tone) => [tone, "surface"] as const),
  ...tones.map((tone) => ["text", `${tone}-ground`] as const),
  ...grounds.map((ground) => ["accent", ground] as const),
  ["on-accent", "accent"],
  // The text of toasts, and of the badge of live mode.
  ["surface", "text"]
]

const edges: ReadonlyArray<readonly [string, string]> = [
  ...grounds.map((ground) => ["edge", ground] as const),
  ...grounds.map((ground) => ["accent", ground] as const)
]

describe.each(["light", "dark"] as const)("in the %s theme", (theme) => {
  const between = ([one, other]: readonly [string, string]) =>
    contrast(tokens.get(one)![theme], tokens.get(other)![theme])

  it.each(texts)("the text %s on %s has a contrast of at least 4.5", (...pair) => {
    assert.isAtLeast(between(pair), 4.5)
  })

  it.each(edges)("the edge %s on %s has a contrast of at least 3", (...pair) => {
    assert.isAtLeast(between(pair), 3)
  })
})
