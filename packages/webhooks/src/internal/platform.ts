/**
 * Types of the globals that this package uses. It compiles without `@types/node` and without the DOM library.
 *
 * @module
 */

/** An HMAC key of Web Crypto. */
export interface WebKey {
  readonly type: string
}

/** The part of Web Crypto that is used. */
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
  /** `data` is the message. */
  sign(algorithm: "HMAC", key: WebKey, ...data: ReadonlyArray<Uint8Array | ArrayBuffer>): Promise<ArrayBuffer>
  /** `data` is the signature and the message. */
  verify(algorithm: "HMAC", key: WebKey, ...data: ReadonlyArray<Uint8Array | ArrayBuffer>): Promise<boolean>
}

interface Digest {
  update(data: string | Uint8Array): Digest
  digest(encoding: "hex"): string
}

/** The part of `node:crypto` that is used. */
export interface NodeCrypto {
  readonly createHmac: (algorithm: "sha256", secret: string) => Digest
  readonly timingSafeEqual: (left: Uint8Array, right: Uint8Array) => boolean
}

declare const TextEncoder: new () => { encode(text: string): Uint8Array }
declare const TextDecoder: new () => { decode(bytes: Uint8Array): string }
// First where there is one: jest-environment-jsdom has neither `TextEncoder` nor `TextDecoder`.
declare const Buffer:
  | {
      from(text: string): Uint8Array
      from(buffer: ArrayBufferLike, offset: number, length: number): Uint8Array
    }
  | undefined

/** Returns the UTF-8 bytes of a text. */
export const encode = (text: string): Uint8Array =>
  typeof Buffer === "undefined" ? new TextEncoder().encode(text) : Buffer.from(text)

/** Returns the text of UTF-8 bytes without a byte order mark. Invalid UTF-8 becomes U+FFFD. */
export const decode = (bytes: Uint8Array): string =>
  typeof Buffer === "undefined"
    ? new TextDecoder().decode(bytes)
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
        .toString()
        .replace(/^\uFEFF/, "")

/**
 * Returns `node:crypto` if the runtime has it (Node, Bun, Deno, workerd with nodejs_compat). Looked up at run time, so that
 * bundlers see no Node import and one build works on every runtime.
 */
export const nodeCrypto = (): NodeCrypto | undefined =>
  (
    globalThis as { readonly process?: { readonly getBuiltinModule?: (id: string) => unknown } }
  ).process?.getBuiltinModule?.("node:crypto") as NodeCrypto | undefined
