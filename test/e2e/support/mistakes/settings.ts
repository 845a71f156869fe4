/** Mistakes in settings, which prevent a start or are warned of. */
import { checkSettings } from "../../../../apps/server/src/commands/doctor.ts"
import { InvalidSettings, read } from "../../../../apps/server/src/settings/Settings.ts"
import { secrets } from "../server.ts"
import type { LogLine } from "../../../support/serverProcess.ts"
import type { Mistake } from "./Mistake.ts"

type Environment = Readonly<Record<string, string>>

const refused = (title: string, environment: Environment): Mistake => ({
  title,
  see: async () => {
    try {
      read(environment)
    } catch (error) {
      if (error instanceof InvalidSettings) return error.faults.join(" ")
      throw error
    }
    throw new Error("The settings are valid")
  }
})

const DATABASE_URL = "postgres://govoice:password@127.0.0.1:5432/govoice"

/** A misspelled name of a setting that the server under test is started with. */
export const misspelled = "GOVOICE_SANDBOX_STEPS_MS"

export const settingMistakes = (log: () => ReadonlyArray<LogLine>): ReadonlyArray<Mistake> => [
  {
    title: "A misspelled name, in the log of `govoice serve`",
    see: async () => log().find(({ message }) => message.includes(misspelled))!.message
  },
  {
    title: "A misspelled name, in `govoice doctor`",
    see: async () =>
      checkSettings({ GOVOICE_RETRY_SHEDULE_MS: "5000" })
        .findings.filter(({ level }) => level !== "ok")
        .map(({ message, remedy }) => `${message} ${remedy}`)
        .join(" ")
  },
  refused("An empty value", { GOVOICE_ROLE: "" }),
  refused("A port that is none", { PORT: "http" }),
  refused("`yes` in place of `true`", { GOVOICE_WEBHOOK_ALLOW_HTTP: "yes" }),
  refused("A list of durations with units", { GOVOICE_RETRY_SCHEDULE_MS: "5s,1m" }),
  refused("A list that ends in a comma", { GOVOICE_RETRY_SCHEDULE_MS: "5000,60000," }),
  refused("A network that is none", { GOVOICE_WEBHOOK_ALLOW_NETWORKS: "10.0" }),
  refused("A network with an address inside of it", { GOVOICE_WEBHOOK_ALLOW_NETWORKS: "10.1.2.3/8" }),
  refused("A database URL without its scheme", { DATABASE_URL: "127.0.0.1:5432/govoice", ...secrets }),
  refused("A database URL of another database", { DATABASE_URL: "mysql://127.0.0.1/govoice", ...secrets }),
  refused("A password with a slash in the database URL", {
    DATABASE_URL: "postgres://govoice:pass/word@127.0.0.1:5432/govoice",
    ...secrets
  }),
  refused("A database without an encryption key", { DATABASE_URL, GOVOICE_JWT_SECRET: secrets.GOVOICE_JWT_SECRET }),
  refused("An encryption key without an id", {
    DATABASE_URL,
    ...secrets,
    GOVOICE_ENCRYPTION_KEYS: Buffer.alloc(32).toString("base64")
  }),
  refused("A short JWT secret", { DATABASE_URL, ...secrets, GOVOICE_JWT_SECRET: "secret" }),
  refused("A role that does not exist", { GOVOICE_ROLE: "server" }),
  refused("The role `api` without a database", { GOVOICE_ROLE: "api" }),
  refused("Live mode without an environment", { GOVOICE_LIVE_MODE: "true" })
]
