/** `govoice serve`: the server, until it is asked to stop. */
import { Effect } from "effect"
import { serve } from "../runtime/serve.ts"
import * as deployment from "./deployment.ts"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"

/** Starts the server. Fails when a setting is invalid. */
export const start = (env: EnvironmentVariables) =>
  Effect.map(deployment.settings(env), (settings) => serve(env, settings))
