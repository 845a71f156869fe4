/**
 * What there are two ways of, as fast as it can be. Does what `compact.ts` does, which takes its place where size counts
 * for more.
 *
 * @module
 */
export { readHeaders } from "./fastHeaders.ts"
export { decode, makeNodeKey } from "./fastHmac.ts"
