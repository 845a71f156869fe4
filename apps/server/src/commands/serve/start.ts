/** Starts the server. */
import { Effect } from "effect"
import { serve } from "../../runtime/serve.ts"
import * as deployment from "../deployment.ts"
import type { Environment } from "../Environment.ts"

/** Starts the server. Fails when a setting is invalid. */
export const start = (environment: Environment) =>
  Effect.map(deployment.settings(environment), () => serve(environment))
