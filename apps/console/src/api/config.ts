/**
 * The facts about the server that it tells everybody.
 */
import { SessionError } from "../session/problem.ts"

export interface Config {
  readonly version: string
  readonly signup: "open" | "closed"
  /** Whether the server mails links that reset passwords. */
  readonly passwordReset: boolean
  readonly liveMode: boolean
  readonly apiEnabled: boolean
  readonly eventRetentionDays: number
}

/** Loads the configuration of the server. */
export const loadConfig = async ({ signal }: { readonly signal: AbortSignal }): Promise<Config> => {
  const failed = (code: string, message: string) => new SessionError({ code, message, retryable: true })
  const response = await fetch("/console/config.json", { signal, credentials: "omit" }).catch(() => {
    throw failed("connection_failed", "The server cannot be reached.")
  })
  if (!response.ok) throw failed("unexpected_response", `The server answered with HTTP ${response.status}.`)
  const config = (await response.json()) as {
    readonly version: string
    readonly signup: "open" | "closed"
    readonly password_reset: boolean
    readonly live_mode: boolean
    readonly api_enabled: boolean
    readonly event_retention_days: number
  }
  return {
    version: config.version,
    signup: config.signup,
    passwordReset: config.password_reset,
    liveMode: config.live_mode,
    apiEnabled: config.api_enabled,
    eventRetentionDays: config.event_retention_days
  }
}
