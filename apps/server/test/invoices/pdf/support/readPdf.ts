/** Reads the text of a PDF that PDFKit wrote: the glyphs of each line, by the Unicode maps of its fonts. */
import { inflateSync } from "node:zlib"

/** A page: its lines from top to bottom, in the order in which they were drawn. */
export interface Page {
  readonly lines: ReadonlyArray<string>
}

interface Source {
  readonly head: string
  readonly body: Buffer | undefined
}

const sources = (pdf: Buffer): ReadonlyMap<string, Source> => {
  const text = pdf.toString("latin1")
  const found = new Map<string, Source>()
  for (const match of text.matchAll(/(?:^|\n)(\d+) 0 obj\n/g)) {
    const start = match.index + match[0].length
    const end = text.indexOf("endobj", start)
    const stream = text.indexOf("stream\n", start)
    const hasStream = stream !== -1 && stream < end
    const head = text.slice(start, hasStream ? stream : end)
    const length = /\/Length (\d+)/.exec(head)
    const bytes = hasStream && length !== null ? pdf.subarray(stream + 7, stream + 7 + Number(length[1])) : undefined
    found.set(match[1]!, { head, body: bytes && head.includes("FlateDecode") ? inflateSync(bytes) : bytes })
  }
  return found
}

const textOfHex = (hex: string): string => Buffer.from(hex.replaceAll(" ", ""), "hex").swap16().toString("utf16le")

// `<first> <last> [<unicode> …]`
const unicodeMap = (map: string): ReadonlyMap<number, string> => {
  const found = new Map<number, string>()
  for (const [, first, list] of map.matchAll(/<([0-9a-f]+)> <[0-9a-f]+> \[([^\]]*)\]/g)) {
    for (const [index, [, hex]] of [...list!.matchAll(/<([0-9a-f ]*)>/g)].entries()) {
      found.set(Number.parseInt(first!, 16) + index, textOfHex(hex!))
    }
  }
  return found
}

/** Reads the pages of a PDF. */
export const readPdf = (pdf: Uint8Array): ReadonlyArray<Page> => {
  const all = sources(Buffer.from(pdf))
  const fonts = new Map<string, ReadonlyMap<number, string>>()
  const mapOf = (reference: string): ReadonlyMap<number, string> => {
    const unicode = /\/ToUnicode (\d+) 0 R/.exec(all.get(reference)!.head)![1]!
    return unicodeMap(all.get(unicode)!.body!.toString("latin1"))
  }
  const pages: Array<Page> = []
  for (const { head } of all.values()) {
    if (!/\/Type \/Page\b/.test(head)) continue
    const resources = all.get(/\/Resources (\d+) 0 R/.exec(head)![1]!)!.head
    for (const [, name, reference] of resources.matchAll(/\/(F\d+) (\d+) 0 R/g)) fonts.set(name!, mapOf(reference!))
    const content = all.get(/\/Contents (\d+) 0 R/.exec(head)![1]!)!.body!.toString("latin1")
    let font = ""
    const lines: Array<string> = []
    for (const [, name, shown] of content.matchAll(/\/(F\d+) [\d.]+ Tf|\[([^\]]*)\] TJ/g)) {
      if (name !== undefined) font = name
      else {
        const glyphs = [...shown!.matchAll(/<([0-9a-f]+)>/g)].map(([, hex]) => hex).join("")
        const codes = glyphs.match(/.{4}/g) ?? []
        lines.push(codes.map((code) => fonts.get(font)?.get(Number.parseInt(code, 16)) ?? "\uFFFD").join(""))
      }
    }
    pages.push({ lines })
  }
  return pages
}
