/** Checks the settings: faults, unknown names, and values that may be mistakes. */
import {
  InvalidSettings,
  read,
  settingsRemedy,
  type SettingsShape,
  unknownNames,
  unknownNameWarning
} from "../../settings/Settings.ts"
import type { EnvironmentVariables } from "../../settings/EnvironmentVariables.ts"
import { fault, type Finding, ok, warning } from "./Finding.ts"

const isLoopback = (host: string): boolean => /^(?:127\.|::1$|localhost$)/.test(host)

const warnings = (settings: SettingsShape): ReadonlyArray<Finding> => [
  ...(settings.database._tag === "Embedded" && settings.database.dataDir === undefined
    ? [warning("settings", "GOVOICE_DATA_DIR is memory: all data is lost when the server stops.")]
    : []),
  ...(settings.signupOpen && !isLoopback(settings.http.host)
    ? [
        warning(
          "settings",
          "Anybody who can reach the API can create an account.",
          "Set GOVOICE_SIGNUP=closed, and create accounts with 'govoice account create'."
        )
      ]
    : []),
  ...(settings.apiEnabled
    ? []
    : [warning("settings", "GOVOICE_API_ENABLED is false: every request to /v1 is answered with api_disabled.")])
]

/** Reads the settings. They are absent when they have faults. */
export const check = (
  env: EnvironmentVariables
): { readonly settings?: SettingsShape; readonly findings: ReadonlyArray<Finding> } => {
  const unknown = unknownNames(env).map((name) => warning("settings", unknownNameWarning(name), settingsRemedy))
  try {
    const settings = read(env)
    return { settings, findings: [ok("settings", `valid; role ${settings.role}`), ...unknown, ...warnings(settings)] }
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error
    return { findings: [...error.faults.map((message) => fault("settings", message, settingsRemedy)), ...unknown] }
  }
}
