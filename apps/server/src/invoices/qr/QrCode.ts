/** Draws a QR code (ISO/IEC 18004) with a label below it: black on white, with the margin of four modules that scanners need. */
import { encode } from "uqr"
import { glyphOf, height as glyphHeight, width as glyphWidth } from "./letters.ts"
import * as Png from "./Png.ts"

/** What is drawn. */
export interface Drawing {
  readonly text: string
  /** Capital letters without accents, digits and dashes. */
  readonly label: string | undefined
}

/** The formats of a drawing. */
export type Format = "svg" | "png"

/** The content type of each format. */
export const contentTypes: Readonly<Record<Format, string>> = { svg: "image/svg+xml", png: "image/png" }

const read = (text: string) => encode(text, { ecc: "M", border: 4 })

/** Draws a code. */
export const draw = (drawing: Drawing, format: Format): Uint8Array =>
  format === "svg" ? Buffer.from(svg(drawing)) : png(drawing)

// In modules. A letter of a monospaced font is 0.6 of its size wide, and the text is stretched to that where the font differs.
const letterRatio = 0.6
const maxFontSize = 4

const svg = ({ label, text }: Drawing): string => {
  const { data, size } = read(text)
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join("")
  const fontSize = label === undefined ? 0 : Math.min(maxFontSize, (size - 2) / (letterRatio * label.length))
  const height = label === undefined ? size : size + Math.ceil(fontSize + 1)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${height}" width="${size}mm" height="${height}mm">`,
    `<rect width="${size}" height="${height}" fill="#fff"/>`,
    `<path d="${path}" fill="#000" shape-rendering="crispEdges"/>`,
    label === undefined ? "" : textElement(label, size / 2, size + 0.8 * fontSize, fontSize),
    "</svg>\n"
  ].join("")
}

const textElement = (label: string, x: number, y: number, fontSize: number): string => {
  const length = round(fontSize * letterRatio * label.length)
  const text = label.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
  return `<text x="${x}" y="${round(y)}" font-family="monospace" font-size="${round(fontSize)}" text-anchor="middle" textLength="${length}" lengthAdjust="spacingAndGlyphs">${text}</text>`
}

const round = (value: number): number => Math.round(value * 100) / 100

// In pixels: those of a module, and the most that a dot of a letter has.
const moduleSize = 10
const maxDotSize = 4

const png = ({ label, text }: Drawing): Uint8Array => {
  const { data, size } = read(text)
  const width = size * moduleSize
  const dotSize = label === undefined ? 0 : Math.min(maxDotSize, Math.floor(width / (label.length * (glyphWidth + 1))))
  const image = Png.blank(width, width + (glyphHeight + 3) * dotSize)
  data.forEach((row, y) =>
    row.forEach((isDark, x) => isDark && Png.fill(image, x * moduleSize, y * moduleSize, moduleSize))
  )
  if (label !== undefined) {
    const left = Math.floor((width - (label.length * (glyphWidth + 1) - 1) * dotSize) / 2)
    Array.from(label, (letter, index) =>
      glyphOf(letter).forEach((row, y) =>
        row.forEach(
          (isDark, x) =>
            isDark && Png.fill(image, left + (index * (glyphWidth + 1) + x) * dotSize, width + y * dotSize, dotSize)
        )
      )
    )
  }
  return Png.encode(image)
}
