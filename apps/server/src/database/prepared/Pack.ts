/**
 * The format of a packed data directory: a line of JSON that names its entries, then the contents of its files, compressed
 * with a checksum.
 */
import { Data, Result } from "effect"
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib"

/** The directories and files of a data directory, by their paths in it. A directory is before its entries. */
export interface Files {
  readonly directories: ReadonlyArray<string>
  readonly files: ReadonlyMap<string, Uint8Array>
}

/** A pack cannot be used. */
export class UnusablePack extends Data.TaggedError("UnusablePack")<{ readonly message: string }> {}

interface Header {
  /** The version of PGlite that wrote the files, which is the one that can open them. */
  readonly version: string
  readonly directories: ReadonlyArray<string>
  /** Paths and sizes, in the order of the contents. */
  readonly files: ReadonlyArray<readonly [string, number]>
}

const headerEnd = 0x0a

// The window covers all files: the three databases of a new cluster have the same catalogs. Without it, a pack is 2.7 MB.
const compression = {
  [constants.ZSTD_c_compressionLevel]: 6,
  [constants.ZSTD_c_enableLongDistanceMatching]: 1,
  [constants.ZSTD_c_windowLog]: 25,
  [constants.ZSTD_c_checksumFlag]: 1
}

/** Packs files that this version of PGlite wrote. */
export const encode = (version: string, { directories, files }: Files): Uint8Array => {
  const header: Header = { version, directories, files: [...files].map(([path, { length }]) => [path, length]) }
  const contents = Buffer.concat([Buffer.from(JSON.stringify(header)), Buffer.of(headerEnd), ...files.values()])
  return zstdCompressSync(contents, { params: compression })
}

const unpack = (pack: Uint8Array): readonly [Header, Uint8Array] => {
  const contents = zstdDecompressSync(pack)
  const end = contents.indexOf(headerEnd)
  return [JSON.parse(contents.toString("utf8", 0, end)) as Header, contents.subarray(end + 1)]
}

/** Unpacks files. They are views of one buffer. */
export const decode = (version: string, pack: Uint8Array): Result.Result<Files, UnusablePack> =>
  Result.try({ try: () => unpack(pack), catch: () => new UnusablePack({ message: "it is damaged" }) }).pipe(
    Result.flatMap(([header, contents]) => {
      if (header.version !== version) {
        return Result.fail(new UnusablePack({ message: `it is for PGlite ${header.version}, and this is ${version}` }))
      }
      const files = new Map<string, Uint8Array>()
      let { byteOffset } = contents
      for (const [path, size] of header.files) {
        files.set(path, new Uint8Array(contents.buffer, byteOffset, size))
        byteOffset += size
      }
      return Result.succeed({ directories: header.directories, files })
    })
  )
