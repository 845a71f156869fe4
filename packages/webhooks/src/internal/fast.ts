/**
 * The faster implementation, with the same results as `compact.ts`. Verification of 1 KiB by `compact.ts` takes 2.3 times
 * as long (Node 24.21, CPU time of the main thread).
 *
 * @module
 */
export { readHeaders } from "./fastHeaders.ts"
export { decode, makeNodeKey } from "./fastHmac.ts"
