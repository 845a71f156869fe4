/**
 * The texts of the page, in the language of its reader. Each language is one file beside this one, and loads alone.
 */
import type { Texts } from "./en.ts"

// `theme.ts` has chosen the language before this script. Without a page, as in a test, there is English.
const { document: page } = globalThis as {
  readonly document?: {
    readonly documentElement: { readonly lang: string }
    readonly fonts: { readonly load: (font: string, text: string) => Promise<unknown> }
  }
}

const isPolish = page?.documentElement.lang === "pl"

// The letters of Polish are a file of their own, which the first word would otherwise begin to load.
if (isPolish) void page?.fonts.load("1em Hanken Grotesk", "ą")

/** Every text of the console. */
export const texts: Texts = isPolish ? (await import("./pl.ts")).pl : (await import("./en.ts")).en
