/**
 * The context of a login: on whose behalf it acts. KSeF counts limits, keeps sessions and grants permissions by context.
 *
 * The forms of the three types exclude each other, and each begins with the NIP of a taxpayer.
 *
 * @since 0.1.0
 */
import * as InternalId from "./InternalId.ts"
import * as Nip from "./Nip.ts"

/**
 * The types of a context.
 *
 * **Details**
 *
 * - `Nip`: a taxpayer.
 * - `InternalId`: a unit of a taxpayer.
 * - `NipVatUe`: a taxpayer and an entity of another EU member state, which issues invoices in the name of the taxpayer
 *   (self-billing).
 *
 * @category models
 * @since 0.1.0
 */
export type Type = "Nip" | "InternalId" | "NipVatUe"

/**
 * A context.
 *
 * @category models
 * @since 0.1.0
 */
export interface ContextIdentifier {
  readonly type: Type
  readonly value: string
}

/**
 * Returns whether the value has the form of the type, with the right check digits.
 *
 * @category guards
 * @since 0.1.0
 */
export const isValid = ({ type, value }: ContextIdentifier): boolean => {
  if (type === "Nip") return Nip.isValid(value)
  return type === "InternalId" ? InternalId.isValid(value) : Nip.isValid(nip(value)) && vatUe.test(value.slice(10))
}

/**
 * Returns the context with this value, whose check digits are not checked.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofValue = (value: string): ContextIdentifier => ({
  type: !value.includes("-") ? "Nip" : /-\d{5}$/.test(value) ? "InternalId" : "NipVatUe",
  value
})

/**
 * Returns the NIP of the taxpayer in the value of a context.
 *
 * @category getters
 * @since 0.1.0
 */
export const nip = (value: string): string => value.slice(0, 10)

// TNipVatUE of the published schema of logins. `@govoice/api` has a copy; `copies.test.ts` of the server compares them.
const vatUe = new RegExp(
  `^-(?:${[
    "ATU\\d{8}",
    "BE[01]\\d{9}",
    "BG\\d{9,10}",
    "CY\\d{8}[A-Z]",
    "CZ\\d{8,10}",
    "DE\\d{9}",
    "DK\\d{8}",
    "EE\\d{9}",
    "EL\\d{9}",
    "ES(?:[A-Z]\\d{8}|\\d{8}[A-Z]|[A-Z]\\d{7}[A-Z])",
    "FI\\d{8}",
    "FR[A-Z0-9]{2}\\d{9}",
    "HR\\d{11}",
    "HU\\d{8}",
    "IE(?:\\d{7}[A-Z]{2}|\\d[A-Z0-9+*]\\d{5}[A-Z])",
    "IT\\d{11}",
    "LT(?:\\d{9}|\\d{12})",
    "LU\\d{8}",
    "LV\\d{11}",
    "MT\\d{8}",
    "NL[A-Z0-9+*]{12}",
    "PT\\d{9}",
    "RO\\d{2,10}",
    "SE\\d{12}",
    "SI\\d{8}",
    "SK\\d{10}",
    "XI(?:\\d{9}|\\d{12}|(?:GD|HA)\\d{3})"
  ].join("|")})$`
)
