/**
 * Draws an invoice as a PDF: what its document says, with the QR codes, on A4 pages. It is a visualization; the invoice is the document.
 */
import { InvoiceReading } from "@govoice/ksef/reading"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import Pdf from "pdfkit"
import * as Layout from "./Layout.ts"

/** What is drawn. */
export interface Job {
  readonly xml: string
  readonly officialNumber: string | null
  readonly codes: ReadonlyArray<Layout.Code>
  /** The date of the file, so that the same invoice is the same file. */
  readonly createdAt: string
}

/** The file, or why there is none: the document is of no form that can be read, or is too long. */
export type Drawn = { readonly pdf: Uint8Array<ArrayBuffer> } | { readonly refused: "form" | "length" }

/** How many rows all tables of an invoice may have. */
export const maxRows = 20_000

// Each text that is drawn takes some 20 µs, and each word that is measured some 60 µs and 8 µs for each of its letters. All together
// stay below the time that a request waits for its turn, so that a long invoice of one organization delays those of the others, and
// refuses none.
const maxTexts = 120_000
const maxLetters = 500_000
const lettersOfWord = 8

class TooLong extends Error {}

// Source Sans has the letters of all languages that are written in Latin, Greek or Cyrillic script. Beside the sources, it is where it
// was installed.
const fontFile = (name: string): string =>
  import.meta.url.endsWith(".ts")
    ? createRequire(import.meta.url).resolve(`source-sans/TTF/${name}`)
    : fileURLToPath(new URL(`./fonts/${name}`, import.meta.url))

const regular = fontFile("SourceSans3-Regular.ttf")
const bold = fontFile("SourceSans3-Semibold.ttf")

const fontOf: Readonly<Record<Layout.Style, string>> = {
  heading: bold,
  label: regular,
  strong: bold,
  text: regular,
  title: bold
}

// Of other scripts the fonts have no letter, and their rules would reverse a number that follows one of Hebrew or Arabic.
const otherScripts = /[^\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Common}\p{Script=Inherited}]/gu

// Both spaces are one glyph, which is copied from the file as the character that was measured or drawn first.
const plain = (text: string): string => text.replaceAll("\u00A0", " ").replaceAll(otherScripts, "\uFFFD")

const black = "#15181e"
const gray = "#535c69"

const notice =
  "Wizualizacja faktury. Fakturą jest dokument XML. / A visualization of the invoice. The invoice is the XML document."

/** Draws an invoice. */
export const drawInvoice = async ({ codes, createdAt, officialNumber, xml }: Job): Promise<Drawn> => {
  const reading = InvoiceReading.read(xml)
  if (reading === undefined) return { refused: "form" }
  if (reading.rowCount > maxRows) return { refused: "length" }

  const { height, margin, width } = Layout.page
  const document = new Pdf({
    size: [width, height],
    // The layout breaks pages. With margins, the library would, too.
    margin: 0,
    font: regular,
    lang: "pl-PL",
    displayTitle: true,
    info: {
      Title: reading.number ?? reading.form,
      Creator: "Govoice",
      CreationDate: new Date(createdAt),
      ModDate: new Date(createdAt)
    }
  })
  const chunks: Array<Buffer> = []
  const ended = new Promise<void>((resolve, reject) => {
    document.on("data", (chunk: Buffer) => chunks.push(chunk))
    document.on("end", resolve)
    document.on("error", reject)
  })

  const widths = { [regular]: new Map<string, number>(), [bold]: new Map<string, number>() }
  let lettersLeft = maxLetters
  // Words repeat, whole texts do not.
  const widthOfWord = (word: string, font: string): number => {
    let found = widths[font]!.get(word)
    if (found === undefined) {
      lettersLeft -= lettersOfWord + word.length
      if (lettersLeft < 0) throw new TooLong()
      found = document.font(font).fontSize(1000).widthOfString(word) / 1000
      widths[font]!.set(word, found)
    }
    return found
  }
  const widthOf: Layout.Painter["widthOf"] = (text, style) => {
    const font = fontOf[style]
    const words = plain(text).split(" ")
    const spaces = words.length === 1 ? 0 : (words.length - 1) * widthOfWord(" ", font)
    return words.reduce((sum, word) => sum + widthOfWord(word, font), spaces) * Layout.sizes[style]
  }

  const content = { reading, officialNumber, codes }
  const nothing = (): void => undefined
  let texts = 0
  const count = (): void => {
    if (++texts > maxTexts) throw new TooLong()
  }
  let pages = 0
  try {
    pages = Layout.arrange(content, { widthOf, text: count, rule: nothing, code: nothing, page: nothing })
  } catch (thrown) {
    if (thrown instanceof TooLong) return { refused: "length" }
    throw thrown
  }
  // The numbers of the pages are new words.
  lettersLeft = Infinity

  const put = (text: string, style: Layout.Style, x: number, y: number): void => {
    document
      .font(fontOf[style])
      .fontSize(Layout.sizes[style])
      .fillColor(style === "label" ? gray : black)
      .text(plain(text), x, y, { lineBreak: false })
  }
  let current = 0
  const footer = (): void => {
    current++
    const y = height - margin - 10
    put(notice, "label", margin, y)
    const number = `${current} / ${pages}`
    put(number, "label", width - margin - widthOf(number, "label"), y)
  }
  Layout.arrange(content, {
    widthOf,
    text: put,
    rule: (x, y, length) => {
      document
        .moveTo(x, y)
        .lineTo(x + length, y)
        .lineWidth(0.5)
        .strokeColor("#c3c9d2")
        .stroke()
    },
    code: (modules, x, y, module) => {
      for (const [line, cells] of modules.entries())
        for (const [column, isDark] of cells.entries())
          if (isDark) document.rect(x + column * module, y + line * module, module, module)
      document.fill("#000000")
    },
    page: () => {
      footer()
      document.addPage()
    }
  })
  footer()
  document.end()
  await ended
  return { pdf: new Uint8Array(Buffer.concat(chunks)) }
}
