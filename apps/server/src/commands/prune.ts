/** `govoice prune`: deletes now what workers delete every hour. */
import { Command } from "effect/cli"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"
import { load } from "./load.ts"

export const prune = (env: EnvironmentVariables) =>
  Command.make("prune", {}, () =>
    load(
      () => import("./prune/prune.ts"),
      ({ prune }) => prune(env)
    )
  ).pipe(
    Command.withDescription(
      "Delete records past their retention, and print how many: events with their deliveries after GOVOICE_EVENT_RETENTION_DAYS, idempotency records after GOVOICE_IDEMPOTENCY_RETENTION_DAYS, refresh tokens a day after they expired, sessions without any, API keys 7 days after they were revoked or expired, and webhook endpoints 7 days after they were deleted, if no delivery of theirs is left. Workers do so every hour. Work that is not complete is kept, and so are all invoices, documents and receipts."
    ),
    Command.withShortDescription("Delete records past their retention.")
  )
