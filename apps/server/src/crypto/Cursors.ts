/** List cursors: the position after a page, with a MAC, so that only a cursor of this deployment for the same list is valid. */
import { Context, Layer } from "effect"
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto"

const macLength = 12

/**
 * Service that makes and reads cursors.
 *
 * `list` identifies the list, its owner and its filters. `read` returns `undefined` for a cursor that was not made by this
 * deployment for that list.
 */
export class Cursors extends Context.Service<
  Cursors,
  {
    readonly make: (list: ReadonlyArray<string>, lastId: string) => string
    readonly read: (list: ReadonlyArray<string>, cursor: string) => string | undefined
  }
>()("@govoice/server/crypto/Cursors") {}

/** Layer that provides cursors sealed with a key derived from this secret. */
export const layer = (secret: string): Layer.Layer<Cursors> => {
  const key = new Uint8Array(hkdfSync("sha256", secret, "", "govoice list cursors", 32))
  const mac = (list: ReadonlyArray<string>, lastId: string): Buffer =>
    createHmac("sha256", key)
      .update(JSON.stringify([...list, lastId]))
      .digest()
      .subarray(0, macLength)

  return Layer.succeed(Cursors)({
    make: (list, lastId) => Buffer.concat([mac(list, lastId), Buffer.from(lastId)]).toString("base64url"),
    read: (list, cursor) => {
      const bytes = Buffer.from(cursor, "base64url")
      if (bytes.length <= macLength || bytes.toString("base64url") !== cursor) return undefined
      const lastId = bytes.subarray(macLength).toString()
      return timingSafeEqual(bytes.subarray(0, macLength), mac(list, lastId)) ? lastId : undefined
    }
  })
}
