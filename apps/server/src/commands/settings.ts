/** `govoice settings`: prints every setting. */
import { Command } from "effect/cli"
import { load } from "./load.ts"

export const settings = Command.make("settings", {}, () =>
  load(
    () => import("./settings/list.ts"),
    ({ list }) => list
  )
).pipe(
  Command.withDescription("List every setting with its description and default. Settings are environment variables.")
)
