/** Rejects options that do not exist: most are typing mistakes, and ignoring one can open a network. */
import type { DispatcherOptions, TlsOptions } from "../Options.ts"

const dispatcherOptions: Readonly<Record<keyof DispatcherOptions, true>> = {
  allowHttp: true,
  allowNetworks: true,
  allowPorts: true,
  deadlineMs: true,
  denyNetworks: true,
  denyPorts: true,
  maxConnectionsPerTarget: true,
  maxIdleConnections: true,
  maxTargets: true,
  nat64Prefixes: true,
  onAttempt: true,
  onConnect: true,
  proxy: true,
  resolve: true,
  tls: true
}

const tlsOptions: Readonly<Record<keyof TlsOptions, true>> = { ca: true }

/** Throws a `TypeError` that names every member of `options` that is not an option of a dispatcher. */
export const rejectUnknownDispatcherOptions = (options: unknown): void => {
  rejectUnknown(options, Object.keys(dispatcherOptions), "")
  const tls = isRecord(options) ? options["tls"] : undefined
  if (isRecord(tls)) rejectUnknown(tls, Object.keys(tlsOptions), "tls.")
}

/** Throws a `TypeError` that names every member of `options` that is not in `known`. */
export const rejectUnknown = (options: unknown, known: ReadonlyArray<string>, prefix: string): void => {
  if (!isRecord(options)) throw new TypeError("options must be an object")
  const unknown = Object.keys(options).filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  const named = unknown.map((name) => {
    const nearest = nearestOf(name, known)
    const suggestion = nearest === undefined ? "" : ` (did you mean ${prefix}${nearest}?)`
    return `${prefix}${name}${suggestion}`
  })
  const missing = unknown.length === 1 ? "option does" : "options do"
  throw new TypeError(
    `The ${missing} not exist: ${named.join(", ")}. Known: ${known.map((name) => prefix + name).join(", ")}.`
  )
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The known name with the fewest edits, if that is at most a third of the name. */
const nearestOf = (name: string, known: ReadonlyArray<string>): string | undefined => {
  let nearest: string | undefined
  let fewest = Math.floor(Math.min(name.length, 64) / 3) + 1
  for (const candidate of known) {
    const edits = editsBetween(name.slice(0, 64).toLowerCase(), candidate.toLowerCase())
    if (edits >= fewest) continue
    fewest = edits
    nearest = candidate
  }
  return nearest
}

/** The Levenshtein distance. */
const editsBetween = (left: string, right: string): number => {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (const [index, character] of Array.from(left).entries()) {
    const next = [index + 1]
    for (const [at, other] of Array.from(right).entries()) {
      next.push(Math.min(next[at]! + 1, row[at + 1]! + 1, row[at]! + (character === other ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1)!
}
