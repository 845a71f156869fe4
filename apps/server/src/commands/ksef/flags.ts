/** The flags that commands of `govoice ksef` share. */
import { Flag } from "effect/cli"

/** Their values. */
export interface OrganizationFlags {
  readonly organization: string
  readonly json: boolean
}

/** The flag that names an organization. */
export const organization = Flag.String("organization").pipe(
  Flag.withDescription("The organization, org_…, as the API names it.")
)

/** The flag that asks for JSON. */
export const json = Flag.Boolean("json").pipe(Flag.withDescription("Print JSON."), Flag.withDefault(false))
