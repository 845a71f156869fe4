/** Identifiers sort by age, so a time is a place among them. */
import { Ids } from "@govoice/core"

/** Returns a prefix of the identifiers of this time, in milliseconds, that sorts before all of them. */
export const idBoundary = (prefix: Ids.Prefix, milliseconds: number): string =>
  Ids.make(prefix, Math.max(0, milliseconds), new Uint8Array(Ids.randomLength)).slice(0, prefix.length + 11)
