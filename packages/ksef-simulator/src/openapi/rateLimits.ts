/**
 * The groups in which KSeF counts calls, and their limits. Names and numbers come from the OpenAPI document.
 */
import type { Document, RateLimit } from "./document.ts"
import { operations } from "./operations.ts"
import type { Operation } from "./Router.ts"

/** The groups, under the names of `GET /rate-limits`. */
export const groups = [
  "onlineSession",
  "onlineSessionClose",
  "batchSession",
  "batchSessionClose",
  "invoiceSend",
  "invoiceStatus",
  "sessionList",
  "sessionInvoiceList",
  "sessionMisc",
  "invoiceMetadata",
  "invoiceExport",
  "invoiceExportStatus",
  "invoiceDownload",
  "collectiveIdentifier",
  "other",
  "anonymous",
  "global"
] as const

/** The name of a group. */
export type Group = (typeof groups)[number]

/** Calls in the last second, minute and hour. -1 stands for no limit. */
export interface Limit {
  readonly perSecond: number
  readonly perMinute: number
  readonly perHour: number
}

/** Limits in place of the published ones. */
export type Overrides = Readonly<Partial<Record<Group, Limit>>>

const unlimited: Limit = { perSecond: -1, perMinute: -1, perHour: -1 }

const complete = ({ perHour = -1, perMinute = -1, perSecond }: RateLimit): Limit => ({ perSecond, perMinute, perHour })

/** Returns the group of an operation: the last word of what the document says of status 429. */
export const groupOf = ({ definition }: Pick<Operation, "definition">): Group => {
  const name = /\|\s*(\w+)\s*$/.exec(definition.responses["429"]?.description ?? "")?.[1]
  return groups.find((group) => group === name) ?? "anonymous"
}

/** Returns the published limits. `global` is reserved and counts nothing. */
export const publishedLimits = ({ paths }: Document): Readonly<Record<Group, Limit>> => {
  const found: Record<string, Limit> = Object.fromEntries(groups.map((group) => [group, unlimited]))
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, definition] of Object.entries(methods)) {
      const limit = definition["x-rate-limits"]
      if (limit === undefined) continue
      const group = groupOf({ definition })
      // Operations of test data are anonymous too, and not meant by the group's name.
      if (group === "anonymous" && `${method.toUpperCase()} ${path}` !== operations.createChallenge) continue
      found[group] = complete(limit)
    }
  }
  return found as Record<Group, Limit>
}
