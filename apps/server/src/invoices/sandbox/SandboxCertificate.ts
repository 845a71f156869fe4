/**
 * The certificate with which the sandbox signs the codes of invoices that are issued offline. It is no secret and proves nothing:
 * anybody can derive its key.
 */
import { createECDH, createHash, createPrivateKey, type KeyObject } from "node:crypto"

/** Its serial number. Like the digits of a real one, it has 16. */
export const serialNumber = "53414E44424F5801"

let derived: KeyObject | undefined

/** Returns what signs with it. The links lead to the pages of the test environment. */
export const signer = () => ({ environment: "test", serialNumber, key: key() })

/** Returns its key, on the curve P-256. */
export const key = (): KeyObject => {
  derived ??= derive()
  return derived
}

const derive = (): KeyObject => {
  const scalar = createHash("sha256").update("The offline certificate of Govoice's sandbox").digest()
  const curve = createECDH("prime256v1")
  curve.setPrivateKey(scalar)
  // An uncompressed point: its form, X and Y.
  const point = curve.getPublicKey()
  const base64Url = (part: Buffer) => part.toString("base64url")
  const [d, x, y] = [base64Url(scalar), base64Url(point.subarray(1, 33)), base64Url(point.subarray(33))] as const
  return createPrivateKey({ key: { kty: "EC", crv: "P-256", d, x, y }, format: "jwk" })
}
