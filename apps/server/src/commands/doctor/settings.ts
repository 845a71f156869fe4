/**
 * The settings: whether they can be used, and which of them deserve a second look.
 *
 * @since 0.1.0
 */
import { InvalidSettings, read, type SettingsShape, unknownNames } from "../../settings/Settings.ts"
import type { Environment } from "../deployment.ts"
import { fault, type Finding, ok, warning } from "./Finding.ts"

const isLoopback = (host: string): boolean => /^(?:127\.|::1$|localhost$)/.test(host)

const remarks = (settings: SettingsShape): ReadonlyArray<Finding> => [
  ...(settings.database._tag === "Embedded" && settings.role !== "all"
    ? [
        warning(
          "settings",
          `GOVOICE_ROLE is ${settings.role}, and the embedded database cannot be shared with the other half.`,
          "Set DATABASE_URL, or GOVOICE_ROLE=all."
        )
      ]
    : []),
  ...(settings.database._tag === "Embedded" && settings.database.dataDir === undefined
    ? [warning("settings", "GOVOICE_DATA_DIR is memory: everything is gone when the server stops.")]
    : []),
  ...(settings.signupOpen && !isLoopback(settings.http.host)
    ? [
        warning(
          "settings",
          "Whoever can reach the API can create an account.",
          "GOVOICE_SIGNUP=closed, and create accounts with: govoice account create"
        )
      ]
    : []),
  ...(settings.apiEnabled
    ? []
    : [warning("settings", "GOVOICE_API_ENABLED is false: every path under /v1 answers api_disabled.")])
]

/**
 * Reads the settings, and says what is wrong with them. Without settings that can be used there are none.
 *
 * @category checks
 * @since 0.1.0
 */
export const check = (
  environment: Environment
): { readonly settings?: SettingsShape; readonly findings: ReadonlyArray<Finding> } => {
  const unknown = unknownNames(environment).map((name) =>
    warning("settings", `${name} is not a setting of Govoice, and does nothing.`, "List them with: govoice settings")
  )
  try {
    const settings = read(environment)
    return { settings, findings: [ok("settings", `complete; role ${settings.role}`), ...unknown, ...remarks(settings)] }
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error
    const faults = error.faults.map((says) => fault("settings", says, "List them with: govoice settings"))
    return { findings: [...faults, ...unknown] }
  }
}
