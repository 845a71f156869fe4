/**
 * The texts of the page, in the language of its reader. Each language is one file beside this one, and loads alone.
 */
import type { Texts } from "./en.ts"

// `theme.ts` has chosen the language before this script. Without a page, as in a test, there is English.
const { document: page } = globalThis as { readonly document?: { readonly documentElement: { readonly lang: string } } }

const isPolish = page?.documentElement.lang === "pl"

/** Every text of the console. */
export const texts: Texts = isPolish ? (await import("./pl.ts")).pl : (await import("./en.ts")).en
