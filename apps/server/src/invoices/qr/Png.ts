/** Images of black and white pixels as PNG files (ISO/IEC 15948): one bit a pixel, no filter. */
import { crc32, deflateSync } from "node:zlib"

/** The rows of an image. Each begins with the byte of its filter; a pixel is a bit, 1 for white. */
export interface Image {
  readonly width: number
  readonly height: number
  readonly rows: Uint8Array
}

const stride = (width: number): number => 1 + Math.ceil(width / 8)

/** Makes a white image. */
export const blank = (width: number, height: number): Image => {
  const rows = new Uint8Array(stride(width) * height).fill(0xff)
  for (let y = 0; y < height; y++) rows[y * stride(width)] = 0
  return { width, height, rows }
}

/** Makes a square of pixels black. */
export const fill = ({ rows, width }: Image, left: number, top: number, size: number): void => {
  for (let y = top; y < top + size; y++) {
    for (let x = left; x < left + size; x++) rows[y * stride(width) + 1 + (x >> 3)]! &= ~(0x80 >> (x & 7))
  }
}

const chunk = (type: string, data: Uint8Array): Uint8Array => {
  const bytes = Buffer.alloc(12 + data.length)
  bytes.writeUInt32BE(data.length, 0)
  bytes.write(type, 4, "latin1")
  bytes.set(data, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length)
  return bytes
}

/** Returns the file. */
export const encode = ({ height, rows, width }: Image): Uint8Array => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // A depth of one bit; the four zeros after it: grayscale, deflate, the filters of the standard, not interlaced.
  header[8] = 1
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", new Uint8Array())
  ])
}
