/** An attempt that was not started, with what it reports. */
import type { DispatcherError, DispatcherOptions, Outcome } from "@govoice/dispatcher"
import * as Context from "effect/Context"
import { DispatchAttempt } from "../../src/internal/dispatchAttempt.ts"
import { DispatchEngine } from "../../src/internal/dispatchEngine.ts"
import { readSettings } from "../../src/internal/settings.ts"
import { parseUrl } from "../../src/internal/url.ts"
import { cleanup } from "./servers.ts"

export const makeAttempt = (text: string, options: DispatcherOptions = {}) => {
  const settings = readSettings({ resolve: () => new Promise(() => {}), ...options })
  const engine = new DispatchEngine(settings, Context.empty())
  cleanup(() => engine.destroy())
  const url = parseUrl(text, settings.policy)
  if (typeof url === "string") throw new Error(url)
  const outcomes: Array<Outcome> = []
  const defects: Array<DispatcherError> = []
  const attempt = new DispatchAttempt(
    engine,
    url,
    { url: text, method: "POST", headers: [], body: new Uint8Array(0), deadlineMs: 1_000 },
    {
      onOutcome: (outcome) => outcomes.push(outcome),
      onDefect: (error) => defects.push(error),
      onDestroyed: () => {}
    }
  )
  return { attempt, defects, engine, outcomes, settings, url }
}
