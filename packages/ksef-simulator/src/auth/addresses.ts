/**
 * The addresses to which a login binds its access tokens (`authorizationPolicy`).
 */
import type { AddressPolicy } from "../state/records.ts"

/** Allowed addresses as requests name them. */
export interface AllowedIps {
  readonly ip4Addresses?: ReadonlyArray<string> | null
  readonly ip4Ranges?: ReadonlyArray<string> | null
  readonly ip4Masks?: ReadonlyArray<string> | null
}

/** Returns an IPv4 address as a number, or `undefined`. */
const toNumber = (address: string): number | undefined => {
  const parts = address.split(".")
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)) return undefined
  return parts.reduce((number, part) => number * 256 + Number(part), 0)
}

/** Reads a policy that the schema has accepted; null where it allows every address. */
export const addressPolicy = (allowed: AllowedIps | null | undefined): AddressPolicy | null => {
  if (allowed === null || allowed === undefined) return null
  const single = (allowed.ip4Addresses ?? []).map((address) => [address, address] as const)
  const ranges = (allowed.ip4Ranges ?? []).map((range) => range.split("-") as [string, string])
  const masks = (allowed.ip4Masks ?? []).map((mask): readonly [number, number] => {
    const [address = "", bits = "32"] = mask.split("/")
    const size = 2 ** (32 - Number(bits))
    const from = Math.floor((toNumber(address) ?? 0) / size) * size
    return [from, from + size - 1]
  })
  const numbers = [...single, ...ranges].map(([from, to]) => [toNumber(from) ?? 1, toNumber(to) ?? 0] as const)
  const policy = [...numbers, ...masks]
  return policy.length === 0 ? null : policy
}

/** Returns an address without the prefix that IPv6 sockets give IPv4 addresses. */
export const plainAddress = (address: string | undefined): string => (address ?? "").replace(/^::ffff:(?=\d)/i, "")

/** Whether a policy allows an address. */
export const allows = (policy: AddressPolicy | null, address: string): boolean => {
  if (policy === null) return true
  const number = toNumber(address)
  return number !== undefined && policy.some(([from, to]) => from <= number && number <= to)
}
