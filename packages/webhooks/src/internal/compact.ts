/**
 * What there are two ways of, in as few bytes as it can be: takes the place of `fast.ts` in bundles for browsers and
 * workers, by the field `browser` of the manifest.
 *
 * @module
 */
export { readHeaders } from "../headers.ts"
export { decode, makeNodeKey } from "./compactHmac.ts"
