/** White space of values. */

/** Collapses white space as in an `xsd:token`. Two steps, because one expression for both ends takes quadratic time. */
export const collapsed = (text: string): string => text.replace(/[\t\n\r ]+/g, " ").replace(/^ | $/g, "")
