/** `govoice cells`: a deployment of several cells, each with a Postgres of its own. */
import { Console, Duration, Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as controlTables from "../cells/controlTables.ts"
import { bucketCount } from "../cells/Directory.ts"
import * as directoryTables from "../cells/directoryTables.ts"
import * as moveState from "../cells/moveState.ts"
import * as proxyConfiguration from "../cells/proxyConfiguration.ts"
import * as Taxpayers from "../cells/Taxpayers.ts"
import * as SqlErrors from "../database/SqlErrors.ts"
import { reasonOf } from "../observability/reasonOf.ts"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"
import { CommandFailure } from "./CommandFailure.ts"
import * as deployment from "./deployment.ts"

const fail = (message: string) => Effect.fail(new CommandFailure({ message }))

/** The settings of a process that belongs to a cell. */
const cellSettings = Effect.fnUntraced(function* (env: EnvironmentVariables) {
  const settings = yield* deployment.settings(env)
  const { cell } = settings
  return cell === undefined
    ? yield* fail(
        "GOVOICE_CELL is not set: this deployment has no cells. Set it to the name of the cell of DATABASE_URL."
      )
    : { settings, cell }
})

const isUrl = (url: string): boolean => /^https?:\/\/[^/?#]+\/?$/.test(url) && URL.canParse(url)

const checkUrl = (url: string) =>
  isUrl(url)
    ? Effect.succeed(url.replace(/\/$/, ""))
    : fail(
        `Expected the URL of the cell's API as the proxy reaches it, such as http://10.0.0.1:3000, found ${JSON.stringify(url)}.`
      )

const checkWalLevel = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly level: string }>`SELECT current_setting('wal_level') AS level`
  if (row!.level !== "logical") {
    yield* fail(
      `The control tables are not replicated while wal_level is ${row!.level}. Set wal_level = logical in postgresql.conf, and restart Postgres.`
    )
  }
})

/** Makes this deployment the control cell, and the cell of all buckets that no cell has. */
export const init = Effect.fnUntraced(function* (env: EnvironmentVariables, given: { readonly url: string }) {
  const { cell, settings } = yield* cellSettings(env)
  const url = yield* checkUrl(given.url)
  if (cell.controlDatabase !== undefined) {
    return yield* fail(
      "GOVOICE_CONTROL_DATABASE_URL is set: this is not the control cell. Run 'govoice cells add' for another cell."
    )
  }
  const run = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* checkWalLevel
    const control = (yield* directoryTables.cells).find(({ is_control }) => is_control)
    if (control !== undefined && control.name !== cell.name) {
      return yield* fail(`The control cell of this database is ${control.name}, and GOVOICE_CELL is ${cell.name}.`)
    }
    yield* sql.withTransaction(
      Effect.andThen(
        directoryTables.putCell({ name: cell.name, is_control: true, url }),
        directoryTables.putBuckets(cell.name)
      )
    )
    yield* Taxpayers.claimStored(cell.name)
    yield* controlTables.publish
    yield* Console.log(
      `Cell ${cell.name} is the control cell, at ${url}. Restart its processes with GOVOICE_CELL=${cell.name}.`
    )
  })
  yield* deployment.onMigrated(settings, run)
})

const checkSubscriber = Effect.gen(function* () {
  const { isEmpty, may } = yield* controlTables.subscriber
  if (!may) return yield* fail(controlTables.mayNotSubscribe("DATABASE_URL"))
  if (!isEmpty) {
    return yield* fail("The database already has accounts. A cell begins with an empty database.")
  }
})

/** Subscribes to the control cell. What the database of this cell reports of the other one is no fault of its own connection. */
const subscribe = (cell: string, url: string) =>
  Effect.catchTag(controlTables.subscribe(cell, url), "SqlError", (error) => {
    const reason = reasonOf(error)
    if (reason.includes("already exists")) {
      const slot = controlTables.slotOf(cell)
      return fail(
        `The control cell has a slot ${slot} already, of a command that was interrupted or of another database of cell ${cell}. If no database uses it, run "SELECT pg_drop_replication_slot('${slot}')" in the control cell, and this command again.`
      )
    }
    return fail(
      SqlErrors.sqlState(error) === "57014"
        ? "A transaction of the control cell takes long, and replication begins after it. Run this command again when it has ended."
        : `The database of this cell could not subscribe to the control cell: ${reason}. It connects with GOVOICE_CONTROL_DATABASE_URL.`
    )
  })

const copyWithin = "2 minutes"

const awaitCopies = controlTables.isCopied.pipe(
  Effect.repeat({ schedule: Schedule.spaced("200 millis"), until: (done) => done }),
  Effect.timeoutOrElse({
    duration: copyWithin,
    orElse: () =>
      fail(
        `The control tables were not copied within ${Duration.format(Duration.fromInputUnsafe(copyWithin))}. The log of Postgres tells why: it may not reach the control cell. Run this command again after that.`
      )
  })
)

/** Adds the cell of these settings: replicates the control tables to its database, and gives it buckets without organizations. */
export const add = Effect.fnUntraced(function* (env: EnvironmentVariables, given: { readonly url: string }) {
  const { cell, settings } = yield* cellSettings(env)
  const url = yield* checkUrl(given.url)
  const { controlDatabase } = cell
  if (controlDatabase === undefined) {
    return yield* fail(
      "Set GOVOICE_CONTROL_DATABASE_URL to the database of the control cell, for a user with the attribute REPLICATION."
    )
  }
  const onControl = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
    deployment.onDatabase({ ...settings, database: controlDatabase }, effect)
  const register = Effect.gen(function* () {
    yield* checkWalLevel
    const known = yield* directoryTables.cells
    if (!known.some(({ is_control }) => is_control) || !(yield* controlTables.isPublished)) {
      return yield* fail("The control cell is not initialized. Run 'govoice cells init' with its settings.")
    }
    if (known.some(({ is_control, name }) => is_control && name === cell.name)) {
      return yield* fail(`${cell.name} is the name of the control cell. Choose another for GOVOICE_CELL.`)
    }
    yield* directoryTables.putCell({ name: cell.name, is_control: false, url })
  })
  const replicate = Effect.gen(function* () {
    if (!(yield* controlTables.isSubscribed)) yield* checkSubscriber
    yield* onControl(register)
    yield* subscribe(cell.name, controlDatabase.url)
    yield* awaitCopies
  })
  yield* deployment.onMigrated(settings, replicate)
  const got = yield* onControl(directoryTables.giveEmptyBuckets(cell.name))
  yield* Console.log(
    `Cell ${cell.name} is at ${url}, and got ${got.length} of ${bucketCount} buckets, in which new organizations are created. Print the configuration of the proxy anew with 'govoice cells proxy'.`
  )
})

const mebibytes = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MiB`

/** Prints the cells, and how far the control tables have come. */
export const status = Effect.fnUntraced(function* (env: EnvironmentVariables, { json }: { readonly json: boolean }) {
  const { cell, settings } = yield* cellSettings(env)
  const read = Effect.all({
    cells: directoryTables.cells,
    moves: moveState.unfinished,
    slots: controlTables.slots,
    subscription: controlTables.subscription
  })
  const found = yield* deployment.onMigrated(settings, read)
  if (json) return yield* Console.log(JSON.stringify({ ...found, subscription: found.subscription ?? null }, null, 2))
  const { cells, moves, slots, subscription } = found
  for (const { buckets, is_control, name, organizations, url } of cells) {
    yield* Console.log(
      `${name.padEnd(12)}  ${url}  ${buckets} buckets, ${organizations} organizations${is_control ? ", control cell" : ""}`
    )
  }
  for (const { cell: name, is_active, lag } of slots) {
    yield* Console.log(`slot of ${name}: ${is_active ? "in use" : "NOT IN USE"}, ${mebibytes(lag)} behind`)
  }
  for (const { organizations, started_at, step, target } of moves) {
    yield* Console.log(`move of ${organizations.join(", ")} to ${target}: ${step}, begun ${started_at.toISOString()}`)
  }
  if (cell.controlDatabase !== undefined) {
    yield* Console.log(
      subscription === undefined
        ? "There is no subscription to the control cell. Run 'govoice cells add'."
        : `subscription: ${subscription.is_running ? "running" : "NOT RUNNING"}, ${subscription.incomplete} tables incomplete, last heard ${(subscription.silent ?? 0).toFixed(0)} s ago`
    )
  }
})

/** Prints the configuration of nginx. */
export const proxy = Effect.fnUntraced(function* (env: EnvironmentVariables) {
  const { settings } = yield* cellSettings(env)
  const read = Effect.all({ cells: directoryTables.cells, buckets: directoryTables.bucketsOfCells })
  const { buckets, cells } = yield* deployment.onMigrated(settings, read)
  if (cells.length === 0) return yield* fail("The directory is empty. Run 'govoice cells init' first.")
  yield* Console.log(proxyConfiguration.print(cells, buckets).trimEnd())
})
