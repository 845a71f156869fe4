/**
 * Paths with a placeholder `*` for each identifier.
 *
 * @module
 */

/**
 * Replaces the placeholders of a path with identifiers, and removes these from `rest`. Characters that no identifier has
 * become dashes, so that a malformed identifier cannot change the path.
 */
export const buildPath = (path: string, rest: Array<unknown>): string =>
  path.replaceAll("*", () => String(rest.shift()).replace(/^$|\W/g, "-"))
