/** Settings as they are without an environment, and with changes. */
import { Layer } from "effect"
import { read, Settings, type SettingsShape } from "../../src/settings/Settings.ts"

export const settings = (changes: Partial<SettingsShape> = {}): SettingsShape => ({
  ...read({ GOVOICE_DATA_DIR: "memory" }),
  ...changes
})

export const layer = (changes: Partial<SettingsShape> = {}) => Layer.succeed(Settings)(settings(changes))
