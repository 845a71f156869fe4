/**
 * RSA key pairs of 2048 bits, the size of KSeF's keys.
 */
import { generateKeyPair, type KeyObject } from "node:crypto"
import { promisify } from "node:util"

/** A key pair. */
export interface RsaPair {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

/** Makes key pairs. It takes a tenth of a second, beside the event loop. */
export type GenerateRsa = () => Promise<RsaPair>

const generate = promisify(generateKeyPair)

/** Makes a new key pair. */
export const generateRsa: GenerateRsa = () => generate("rsa", { modulusLength: 2048 })
