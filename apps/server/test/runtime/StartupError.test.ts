import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as Database from "../../src/database/Database.ts"
import { DataDirInUse } from "../../src/database/DataDirLock.ts"
import { explain } from "../../src/runtime/StartupError.ts"
import { read } from "../../src/settings/Settings.ts"

const errorOf = (program: Effect.Effect<unknown, unknown>): Effect.Effect<unknown> =>
  Effect.map(Effect.exit(program), (exit) => (Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined))

describe("StartupError.explain", () => {
  it.live("names an address that is in use, and the settings to change", () =>
    Effect.gen(function* () {
      const other = createServer().listen(0, "127.0.0.1")
      yield* Effect.promise(() => new Promise((resolve) => other.once("listening", resolve)))
      const { port } = other.address() as AddressInfo
      const settings = read({ PORT: String(port) })
      const error = yield* errorOf(Layer.launch(NodeHttpServer.layer(() => createServer(), settings.http)))
      other.close()
      const said = explain(settings, error) ?? ""
      assert.match(said, new RegExp(`^The server cannot listen: .*EADDRINUSE.*127\\.0\\.0\\.1:${port}\\. Stop `))
      assert.include(said, "set PORT")
    })
  )

  it.live("names a database that cannot be reached, without its password", () =>
    Effect.gen(function* () {
      const settings = read({
        DATABASE_URL: "postgres://somebody:hunter2@127.0.0.1:1/none",
        GOVOICE_JWT_SECRET: "x".repeat(64),
        GOVOICE_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 1).toString("base64")}`
      })
      const ask = SqlClient.SqlClient.use((sql) => sql`SELECT 1`)
      const error = yield* errorOf(ask.pipe(Effect.provide(Database.layerClient(settings.database)), Effect.scoped))
      const said = explain(settings, error) ?? ""
      assert.match(said, /^Postgres at 127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/)
      assert.include(said, "Check DATABASE_URL")
      assert.notInclude(said, "hunter2")
    })
  )

  it("names the process that uses the data directory", () => {
    const said = explain(read({}), new DataDirInUse({ dataDir: "DATA", holder: "process 7" }))
    assert.match(said ?? "", /^DATA is in use by process 7/)
  })

  it("does not explain defects", () => {
    assert.isUndefined(explain(read({}), new Error("a surprise")))
  })
})
