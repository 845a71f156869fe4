/**
 * The file system of the embedded Postgres: files of this machine, for their owner only, synchronized to disk when Postgres
 * asks for it.
 *
 * The file system of PGlite creates files that everyone may write, and ignores `fsync`. And where this machine cannot make or open a
 * file for a moment, as without a free descriptor, it takes the file to exist, and one of its own 4096 descriptors to be in use,
 * until the end of the process.
 */
import type { PGlite } from "@electric-sql/pglite"
import { NodeFS } from "@electric-sql/pglite/nodefs"
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
  unlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"

const othersRights = 0o077

type Operations = Record<string, (...args: ReadonlyArray<never>) => unknown>

/** The members of Emscripten's file systems in use, which its types do not describe: of all of them, and of NODEFS. */
interface FileSystem {
  readonly isDir: (mode: number) => boolean
  readonly closeStream: (fd: number) => void
  readonly destroyNode: (node: unknown) => void
}
interface NodeFileSystem {
  readonly node_ops: {
    mknod: (parent: unknown, name: string, mode: number, device: number) => unknown
    setattr: (node: unknown, attributes: { mode?: number | null }) => void
  }
  readonly stream_ops: {
    open: (stream: Stream) => void
    fsync?: (stream: Stream) => number
  }
  readonly createNode: (parent: unknown, name: string, mode: number, device: number) => unknown
  readonly realPath: (node: unknown) => string
  readonly tryFSOperation: <A>(operation: () => A) => A
}
interface Stream {
  readonly fd: number
  readonly nfd: number
  readonly node: unknown
}

const changes = ["fsync", "mknod", "rename", "rmdir", "setattr", "symlink", "unlink", "write"]

/** Has a function called before each change of a file. */
const watch = (operations: Operations, beforeChange: () => void): void => {
  for (const name of changes) {
    const change = operations[name]
    if (change === undefined) continue
    operations[name] = (...args) => {
      beforeChange()
      return change(...args)
    }
  }
}

const patch = (
  { closeStream, destroyNode, isDir }: FileSystem,
  { createNode, node_ops, realPath, stream_ops, tryFSOperation }: NodeFileSystem,
  beforeChange: () => void
): void => {
  const { setattr } = node_ops
  const { open } = stream_ops
  let made: unknown
  node_ops.mknod = (parent, name, wantedMode, device) => {
    const path = join(realPath(parent), name)
    const mode = wantedMode & ~othersRights
    tryFSOperation(() => (isDir(mode) ? mkdirSync(path, mode) : writeFileSync(path, "", { mode })))
    made = createNode(parent, name, mode, device)
    return made
  }
  stream_ops.open = (stream) => {
    const isNew = stream.node === made
    made = undefined
    try {
      open(stream)
    } catch (error) {
      closeStream(stream.fd)
      if (isNew) {
        unlinkSync(realPath(stream.node))
        destroyNode(stream.node)
      }
      throw error
    }
  }
  node_ops.setattr = (node, attributes) => {
    if (typeof attributes.mode === "number") attributes.mode &= ~othersRights
    setattr(node, attributes)
  }
  stream_ops.fsync = ({ nfd }) => {
    tryFSOperation(() => fsyncSync(nfd))
    return 0
  }
  for (const operations of [node_ops, stream_ops]) watch(operations, () => tryFSOperation(beforeChange))
}

type Options = Parameters<NodeFS["init"]>[1]

/** Files below one directory. `beforeChange` is called before each change of one. */
export class DurableNodeFS extends NodeFS {
  private readonly beforeChange: () => void

  constructor(directory: string, beforeChange: () => void) {
    super(directory)
    this.beforeChange = beforeChange
  }

  override async init(database: PGlite, options: Options): Promise<{ emscriptenOpts: Options }> {
    const { emscriptenOpts } = await super.init(database, options)
    const patchModule = ({ FS, NODEFS }: { readonly FS: unknown; readonly NODEFS: unknown }) =>
      patch(FS as FileSystem, NODEFS as NodeFileSystem, this.beforeChange)
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [patchModule, ...(emscriptenOpts.preRun ?? [])] } }
  }
}

/** Start parameters that make Postgres use `fsync`. The default, fdatasync, does nothing in Emscripten. */
export const syncParameters = (parameters: ReadonlyArray<string>): Array<string> => [
  ...parameters.filter((parameter) => parameter !== "-F"),
  "-c",
  "wal_sync_method=fsync"
]

const everyEntry = function* (directory: string): Generator<string> {
  yield directory
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) yield* everyEntry(path)
    else if (entry.isFile()) yield path
  }
}

/** Takes every right from others, on a directory and everything below it. */
export const makePrivate = (directory: string): void => {
  for (const path of everyEntry(directory)) {
    const { mode } = statSync(path)
    if ((mode & othersRights) !== 0) chmodSync(path, mode & 0o700)
  }
}

/** Synchronizes a file, or the entries of a directory, to disk. */
export const sync = (path: string): void => {
  const descriptor = openSync(path, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Synchronizes a directory and everything below it to disk. */
export const syncAll = (directory: string): void => {
  for (const path of everyEntry(directory)) sync(path)
}
