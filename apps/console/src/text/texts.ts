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

/** The language of the page. */
export const language = page?.documentElement.lang === "pl" ? "pl" : "en"

// The letters of Polish are a file of their own, which the first word would otherwise begin to load.
if (language === "pl") void page?.fonts.load("1em Hanken Grotesk", "ą")

/** Every text of the console. */
export const texts: Texts = language === "pl" ? (await import("./pl.ts")).pl : (await import("./en.ts")).en
