/**
 * Parsers of the options that a program reads from its own settings.
 *
 * They accept what the options accept and return the fault in the same words, so that a setting is refused at start and
 * not by `makeDispatcher` later.
 *
 * **Example** (Reading a comma-separated setting)
 *
 * ```ts import.meta.vitest
 * import { OptionParsers } from "@govoice/dispatcher"
 *
 * const networks = OptionParsers.networks("10.1.0.0/16,192.0.2.7".split(","))
 * networks // => { ok: true, value: ["10.1.0.0/16", "192.0.2.7/32"] }
 * ```
 *
 * @since 0.1.0
 */
import { formatNetwork, type Network } from "./internal/address.ts"
import * as readers from "./internal/optionReaders.ts"
import type { Parsed } from "./internal/optionReaders.ts"
import type { Cidr } from "./Options.ts"

export type { Parsed } from "./internal/optionReaders.ts"

/**
 * Parses `allowNetworks` and `denyNetworks`. Returns each network in canonical form with its prefix.
 *
 * **Details**
 *
 * A bare address is a network of one: `/32` or `/128`. A network with bits set after its prefix, such as `10.1.2.3/8`, is
 * a fault.
 *
 * @category parsing
 * @since 0.1.0
 */
export const networks = (entries: ReadonlyArray<string>): Parsed<ReadonlyArray<Cidr>> =>
  formatted(readers.readNetworks(entries))

/**
 * Parses `nat64Prefixes`. Returns each prefix in canonical form.
 *
 * @category parsing
 * @since 0.1.0
 */
export const nat64Prefixes = (entries: ReadonlyArray<string>): Parsed<ReadonlyArray<Cidr>> =>
  formatted(readers.readNat64Prefixes(entries))

/**
 * Parses `allowPorts` and `denyPorts`, each port written as decimal digits.
 *
 * @category parsing
 * @since 0.1.0
 */
export const ports = (entries: ReadonlyArray<string>): Parsed<ReadonlyArray<number>> => readers.readPortTexts(entries)

/**
 * Checks `proxy` and returns it unchanged. The fault does not contain it: it can hold a password.
 *
 * @category parsing
 * @since 0.1.0
 */
export const proxy = (text: string): Parsed<string> => {
  const read = readers.readProxy(text)
  return read.ok ? { ok: true, value: text } : read
}

const formatted = (read: Parsed<ReadonlyArray<Network>>): Parsed<ReadonlyArray<Cidr>> =>
  read.ok ? { ok: true, value: read.value.map(formatNetwork) } : read
