/** The codes of a PDF, read from its pages as a printer draws them. */
import type * as JsQr from "jsqr"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { drawInvoice } from "../../../src/invoices/pdf/drawInvoice.ts"

const jsQr = createRequire(import.meta.url)("jsqr") as typeof JsQr.default.default

const isMissing = spawnSync("pdftoppm", ["-v"]).error !== undefined

const xml = readFileSync(new URL("../../../../../test/support/fullInvoice.xml", import.meta.url), "utf8")

const url = "https://qr-test.ksef.mf.gov.pl/invoice/5265877635/20-11-2026/bVWOvc2WhLGYVUR-jaB2cBSxGNFVO1IOPrp5B4VVW5U"
const certificateUrl = (signature: number) =>
  `https://qr.ksef.mf.gov.pl/certificate/Nip/5265877635/5265877635/01F20A5D352AE590/${"UtQp9Gpc51y-u3xApZjIjgkpZ01js-J8KflSPW8WzIE".repeat(9).slice(0, 44 + signature)}`

interface Image {
  readonly width: number
  readonly height: number
  readonly pixels: Uint8ClampedArray
}

/** Draws the pages of a PDF at a resolution in dots per inch. */
const pagesOf = (pdf: Uint8Array, resolution: number): ReadonlyArray<Image> => {
  const folder = mkdtempSync(join(tmpdir(), "govoice-pdf-"))
  try {
    const file = join(folder, "invoice.pdf")
    writeFileSync(file, pdf)
    const { status, stderr } = spawnSync("pdftoppm", ["-gray", "-r", String(resolution), file, join(folder, "page")])
    assert.strictEqual(status, 0, String(stderr))
    return readdirSync(folder)
      .filter((name) => name.endsWith(".pgm"))
      .sort()
      .map((name) => {
        const bytes = readFileSync(join(folder, name))
        const [head, width, height] = /^P5\s+(\d+)\s+(\d+)\s+255\s/.exec(bytes.toString("latin1", 0, 100))!
        const gray = bytes.subarray(head.length)
        const pixels = Uint8ClampedArray.from({ length: 4 * gray.length }, (_, n) =>
          n % 4 === 3 ? 255 : gray[Math.floor(n / 4)]!
        )
        return { width: Number(width), height: Number(height), pixels }
      })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The code of each half of a page: they stand beside each other. */
const codesOf = ({ height, pixels, width }: Image): ReadonlyArray<string> => {
  const half = Math.floor(width / 2)
  return [0, half].flatMap((left) => {
    const part = new Uint8ClampedArray(4 * half * height)
    for (let y = 0; y < height; y++) {
      const start = 4 * (y * width + left)
      part.set(pixels.subarray(start, start + 4 * half), 4 * y * half)
    }
    const found = jsQr(part, half, height, { inversionAttempts: "dontInvert" })
    return found === null ? [] : [found.data]
  })
}

describe.skipIf(isMissing)(
  `the codes of a PDF${isMissing ? " (skipped: no pdftoppm; run apt-get install poppler-utils)" : ""}`,
  () => {
    it.each([
      ["an EC key", 86],
      ["an RSA key", 342]
    ])("are readable at 150 dots per inch, also with the signature of %s (%i characters)", async (_, signature) => {
      const codes = [
        { text: url, label: "OFFLINE" },
        { text: certificateUrl(signature), label: "CERTYFIKAT" }
      ]
      const drawn = await drawInvoice({ xml, officialNumber: null, codes, createdAt: "2026-11-20T08:15:00.000Z" })
      if (!("pdf" in drawn)) throw new Error(drawn.refused)
      const last = pagesOf(drawn.pdf, 150).at(-1)!
      assert.deepStrictEqual(
        codesOf(last),
        codes.map(({ text }) => text)
      )
    })
  }
)
