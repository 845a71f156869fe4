/**
 * The smaller implementation. The `browser` field of package.json substitutes it for `fast.ts` in bundles for browsers and
 * workers: `fast.ts` would add 820 bytes (gzip) to the verifier.
 *
 * @module
 */
export { readHeaders } from "../headers.ts"
export { decode, makeNodeKey } from "./compactHmac.ts"
