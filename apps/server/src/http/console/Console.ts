/** The console of account owners: its page and its sessions, if the deployment serves it. */
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Settings } from "../../settings/Settings.ts"
import { ConsoleApi } from "./ConsoleApi.ts"
import * as ConsoleFiles from "./ConsoleFiles.ts"
import * as ConsolePages from "./ConsolePages.ts"
import * as SessionHandlers from "./SessionHandlers.ts"

const sessions = HttpApiBuilder.layer(ConsoleApi).pipe(Layer.provide(SessionHandlers.layer))

/** Adds the routes under `/console`, or none. */
export const layer = Layer.unwrap(
  Effect.map(Settings, ({ consoleEnabled }) =>
    consoleEnabled ? Layer.merge(sessions, ConsolePages.layer(ConsoleFiles.folder)) : Layer.empty
  )
)
