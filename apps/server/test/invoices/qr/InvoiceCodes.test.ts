import type { Invoice } from "@govoice/core"
import { initWasm, Resvg } from "@resvg/resvg-wasm"
import type * as JsQr from "jsqr"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { assert, beforeAll, describe, it } from "vitest"
import { draw } from "../../../src/invoices/qr/InvoiceCodes.ts"
import * as Letters from "../../../src/invoices/qr/letters.ts"

const url = "https://qr-test.ksef.mf.gov.pl/invoice/5265877635/20-11-2026/bVWOvc2WhLGYVUR-jaB2cBSxGNFVO1IOPrp5B4VVW5U"
const number = "5265877635-20261120-0A1B2C3D4E5F-43"
// As long as one with the signature of an RSA key.
const certificateUrl = `https://qr.ksef.mf.gov.pl/certificate/Nip/5265877635/5265877635/01F20A5D352AE590/${"UtQp9Gpc51y-u3xApZjIjgkpZ01js-J8KflSPW8WzIE".repeat(9)}`

const invoice = (verification: object | null) => ({ verification: verification as Invoice.Verification | null })

const load = createRequire(import.meta.url)
const jsQr = load("jsqr") as typeof JsQr.default.default

beforeAll(async () => {
  await initWasm(readFileSync(load.resolve("@resvg/resvg-wasm/index_bg.wasm")))
})

const pixelsOf = (svg: string) => new Resvg(svg, { fitTo: { mode: "zoom", value: 6 } }).render()

/** Decodes an image by programs that did not draw it. */
const read = (bytes: Uint8Array, contentType: string) => {
  const embedded = `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`
  const svg =
    contentType === "image/png"
      ? `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 110"><image width="100" height="110" href="${embedded}"/></svg>`
      : new TextDecoder().decode(bytes)
  const { height, pixels, width } = pixelsOf(svg)
  return jsQr(Uint8ClampedArray.from(pixels), width, height)?.data
}

describe("the QR codes of an invoice", () => {
  const verification = { url, label: number, certificate_url: certificateUrl }

  for (const format of ["svg", "png"] as const) {
    for (const label of ["true", "false"] as const) {
      it.each([
        ["1", url],
        ["2", certificateUrl]
      ] as const)(`are readable as ${format} with label=${label}: code %s`, (code, text) => {
        const { bytes, contentType } = draw(invoice(verification), { code, format, label })!
        assert.strictEqual(contentType, format === "svg" ? "image/svg+xml" : "image/png")
        assert.strictEqual(read(bytes, contentType), text)
      })
    }
  }

  it("have their label below them", () => {
    const svg = (request: object, of: object = verification) =>
      new TextDecoder().decode(draw(invoice(of), request)!.bytes)
    assert.include(svg({}), `>${number}</text>`)
    assert.include(svg({}, { url, label: "OFFLINE" }), ">OFFLINE</text>")
    assert.include(svg({ code: "2" }), ">CERTYFIKAT</text>")
    assert.notInclude(svg({ label: "false" }), "<text")
    assert.include(svg({}, { url, label: "<&" }), ">&lt;&amp;</text>")
  })

  it("do not exist without the facts they are made of", () => {
    assert.isUndefined(draw(invoice(null), {}))
    assert.isUndefined(draw(invoice({ url, label: "OFFLINE", certificate_url: null }), { code: "2" }))
  })
})

describe("the letters of an image", () => {
  const show = (letter: string) =>
    Letters.glyphOf(letter)
      .map((row) => row.map((isDark) => (isDark ? "#" : ".")).join(""))
      .join("\n")

  it("are all different, and one has its shape", () => {
    const letters = Array.from("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-")
    assert.strictEqual(new Set([" ", ...letters].map(show)).size, letters.length + 1)
    assert.strictEqual(show("F"), ["#####", "#....", "#....", "####.", "#....", "#....", "#...."].join("\n"))
  })

  it("stand below the code in the image", () => {
    const image = (label: string) => draw(invoice({ url, label }), { format: "png" })!.bytes
    const height = (bytes: Uint8Array) => Buffer.from(bytes).readUInt32BE(20)
    assert.notDeepEqual(image("OFFLINE"), image("OFFLINA"))
    assert.strictEqual(height(image("OFFLINE")), 490 + 10 * 4)
    assert.strictEqual(height(image(number)), 490 + 10 * 2)
  })
})
