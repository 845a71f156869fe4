/**
 * The globals that this package uses, typed here so that it compiles with neither `@types/node` nor the DOM library.
 *
 * @module
 */

/** An HMAC key of Web Crypto. */
export interface WebKey {
  readonly type: string
}

/** What is used of Web Crypto. */
export interface WebCrypto {
  readonly subtle: Subtle
}

interface Subtle {
  importKey(
    format: "raw",
    key: Uint8Array,
    algorithm: { name: "HMAC"; hash: "SHA-256" },
    extractable: false,
    usages: ReadonlyArray<"sign" | "verify">
  ): Promise<WebKey>
  /** Of the data. */
  sign(algorithm: "HMAC", key: WebKey, ...data: ReadonlyArray<Uint8Array | ArrayBuffer>): Promise<ArrayBuffer>
  /** Of the signature and the data. */
  verify(algorithm: "HMAC", key: WebKey, ...data: ReadonlyArray<Uint8Array | ArrayBuffer>): Promise<boolean>
}

interface Digest {
  update(data: string | Uint8Array): Digest
  digest(encoding: "hex"): string
}

/** What is used of `node:crypto`. */
export interface NodeCrypto {
  /** Since Node 20.12. */
  readonly hash?: (algorithm: "sha256", data: string | Uint8Array, encoding: "latin1" | "hex") => string
  createHmac(algorithm: "sha256", secret: string): Digest
  readonly timingSafeEqual: (left: Uint8Array, right: Uint8Array) => boolean
}

/**
 * A secret, ready for use by `node:crypto`: gives the 64 hex digits of a signature, or whether one of those that it was
 * given fits.
 */
export type NodeKey = (
  timestamp: string,
  body: string | Uint8Array,
  signatures?: ReadonlyArray<string>
) => string | boolean

declare const TextEncoder: new () => {
  encode(text: string): Uint8Array
}

export const encoder = new TextEncoder()

/**
 * `node:crypto` where the runtime has it (Node, Bun, Deno, workerd with nodejs_compat). Asked for at run time, so that
 * bundlers find no Node import and one build serves every runtime.
 */
export const nodeCrypto = (): NodeCrypto | undefined =>
  (
    globalThis as { readonly process?: { readonly getBuiltinModule?: (id: string) => unknown } }
  ).process?.getBuiltinModule?.("node:crypto") as NodeCrypto | undefined
