/** A file system in memory that has the files of a prepared database from the start. */
import { MemoryFS, PGlite } from "@electric-sql/pglite"
import type { Files } from "./Pack.ts"

/** The members of Emscripten's FS in use, which the types of PGlite do not describe. */
interface FileSystem {
  readonly mkdir: (path: string, mode: number) => void
  readonly mkdirTree: (path: string, mode: number) => void
  /** With `canOwn`, the file keeps the bytes instead of a copy. */
  readonly writeFile: (path: string, data: Uint8Array, options: { readonly canOwn: boolean }) => void
}

const { PGDATA } = PGlite.paths

export class PreparedMemoryFS extends MemoryFS {
  private readonly files: Files

  constructor(files: Files) {
    super()
    this.files = files
  }

  override async initialSyncFs(): Promise<void> {
    // The type of PGlite's module leaves out most of Emscripten's file system.
    const { FS } = this.pg!.Module as unknown as { readonly FS: FileSystem }
    FS.mkdirTree(PGDATA, 0o700)
    for (const path of this.files.directories) FS.mkdir(`${PGDATA}/${path}`, 0o700)
    for (const [path, data] of this.files.files) FS.writeFile(`${PGDATA}/${path}`, data, { canOwn: true })
  }
}
