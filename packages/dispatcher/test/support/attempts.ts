/** An attempt that is made and not yet begun, and what it tells whoever asked for it. */
import type { DispatcherError, DispatcherOptions, Outcome } from "@govoice/dispatcher"
import * as Context from "effect/Context"
import { Attempt } from "../../src/internal/attempt.ts"
import { Engine } from "../../src/internal/engine.ts"
import { compile } from "../../src/internal/policy.ts"
import { parseTarget } from "../../src/internal/url.ts"
import { cleanup } from "./servers.ts"

export const makeAttempt = (text: string, options: DispatcherOptions = {}) => {
  const engine = new Engine({ resolve: () => new Promise(() => {}), ...options }, Context.empty())
  cleanup(() => engine.destroy())
  const url = parseTarget(text, compile(options))
  if (typeof url === "string") throw new Error(url)
  const outcomes: Array<Outcome> = []
  const defects: Array<DispatcherError> = []
  const attempt = new Attempt(
    engine,
    url,
    { method: "POST", headers: [], body: new Uint8Array(0), deadlineMs: 1_000 },
    {
      onOutcome: (outcome) => outcomes.push(outcome),
      onDefect: (error) => defects.push(error),
      onDestroyed: () => {}
    }
  )
  return { engine, attempt, outcomes, defects }
}
