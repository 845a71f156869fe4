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
  sign(algorithm: "HMAC", key: WebKey, data: ArrayBuffer): Promise<ArrayBuffer>
  verify(algorithm: "HMAC", key: WebKey, signature: Uint8Array, data: ArrayBuffer): Promise<boolean>
}

/** A key of `node:crypto`. */
export interface NodeKey {
  readonly type: string
}

interface Hmac {
  update(data: string | Uint8Array): Hmac
  digest(encoding: "hex"): string
}

/** What is used of `node:crypto`. */
export interface NodeCrypto {
  createSecretKey(secret: string): NodeKey
  createHmac(algorithm: "sha256", key: NodeKey | string): Hmac
  timingSafeEqual(left: Uint8Array, right: Uint8Array): boolean
}

declare const TextDecoder: new () => { decode(bytes: Uint8Array | ArrayBuffer): string }
declare const TextEncoder: new () => {
  encode(text: string): Uint8Array
  encodeInto(text: string, bytes: Uint8Array): unknown
}

export const encoder = new TextEncoder()

/** Takes a byte order mark off and replaces what is not UTF-8. */
export const decoder = new TextDecoder()

/**
 * `node:crypto` where the runtime has it (Node, Bun, Deno, workerd with nodejs_compat). Asked for at run time, so that
 * bundlers find no Node import and one build serves every runtime.
 */
export const nodeCrypto = (): NodeCrypto | undefined =>
  (
    globalThis as { readonly process?: { readonly getBuiltinModule?: (id: string) => unknown } }
  ).process?.getBuiltinModule?.("node:crypto") as NodeCrypto | undefined
