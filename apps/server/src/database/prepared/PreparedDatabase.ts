/**
 * The files of an empty database with every migration of this version, so that a new embedded database starts without
 * `initdb` and migrations.
 *
 * The build puts them beside the bundle. From source they are made once, and kept under a name that changes with the
 * migrations. Migrations that they lack run when the database is opened, as over any other.
 */
import { Effect, Result } from "effect"
import { createHash, randomUUID } from "node:crypto"
import { globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { reasonOf } from "../../observability/reasonOf.ts"
import { makeFiles } from "./makeFiles.ts"
import * as Pack from "./Pack.ts"
import { pgliteVersion } from "./pgliteVersion.ts"

/** The name of the pack beside the bundle. */
export const fileName = "database.pack"

const isSource = import.meta.url.endsWith(".ts")

const here = dirname(fileURLToPath(import.meta.url))

const readPack = (path: string): Result.Result<Pack.Files, Pack.UnusablePack> =>
  Result.try({
    try: () => readFileSync(path),
    catch: (error) => new Pack.UnusablePack({ message: reasonOf(error) })
  }).pipe(Result.flatMap((bytes) => Pack.decode(pgliteVersion(), bytes)))

/** Reads a pack, or logs why it cannot be used. */
export const read = (path: string): Effect.Effect<Pack.Files | undefined> =>
  Effect.suspend(() => {
    const files = readPack(path)
    if (Result.isSuccess(files)) return Effect.succeed(files.success)
    return Effect.as(
      Effect.annotateLogs(Effect.logWarning("Prepared database unusable; the database is created anew"), {
        path,
        reason: files.failure.message
      }),
      undefined
    )
  })

/** Makes the files, and packs them. */
export const make = async (): Promise<Uint8Array> => Pack.encode(pgliteVersion(), await makeFiles())

/** Identifies the sources of the files: the migrations, how they are applied, and PGlite. */
const sourceKey = (): string => {
  const database = join(here, "..")
  const hash = createHash("sha256").update(pgliteVersion())
  for (const path of globSync(["*.ts", "migrations/*.ts", "prepared/*.ts"], { cwd: database }).sort()) {
    hash.update(path).update(readFileSync(join(database, path)))
  }
  return hash.digest("hex").slice(0, 16)
}

const keep = (folder: string, name: string, pack: Uint8Array): void => {
  mkdirSync(folder, { recursive: true })
  const part = join(folder, `${name}.${randomUUID()}`)
  writeFileSync(part, pack)
  renameSync(part, join(folder, name))
  for (const other of globSync("database-*.pack", { cwd: folder })) {
    if (other !== name) rmSync(join(folder, other), { force: true })
  }
}

/**
 * Returns the files that `folder` keeps for these sources. Makes them when it has none, or damaged ones, and removes those of
 * other sources.
 */
export const findInCache = (folder: string): Effect.Effect<Pack.Files | undefined> =>
  Effect.gen(function* () {
    const name = `database-${sourceKey()}.pack`
    const kept = readPack(join(folder, name))
    if (Result.isSuccess(kept)) return kept.success
    const pack = yield* Effect.tryPromise(make)
    yield* Effect.try(() => keep(folder, name, pack)).pipe(
      Effect.catch((error) => Effect.logDebug("Prepared database not kept", error))
    )
    return Result.getOrUndefined(Pack.decode(pgliteVersion(), pack))
  }).pipe(Effect.catch((error) => Effect.as(Effect.logDebug("Prepared database not made", error), undefined)))

/** Finds the files of this version. Without them, a new database is created by `initdb` and migrated. */
export const find: Effect.Effect<Pack.Files | undefined> = isSource
  ? findInCache(join(here, "../../../node_modules/.cache/govoice"))
  : read(join(here, fileName))
