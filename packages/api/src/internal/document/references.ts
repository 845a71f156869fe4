/**
 * References to components of the document.
 */

/** Returns a `$ref` to a component. */
export const ref = (kind: "schemas" | "headers" | "examples", name: string) => ({
  $ref: `#/components/${kind}/${name}`
})
