/**
 * The OpenAPI document of KSeF: version 2.7.0 as it was published, and over it what version 2.8 changed, from a file whose
 * every entry names its source.
 */
import { dataFile } from "../dataFolder.ts"

/** A value of JSON. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [member: string]: Json }

/** A schema of the document. */
export type Schema = Readonly<Record<string, unknown>>

/** A parameter of an operation. */
export interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly required?: boolean
  readonly schema: Schema
}

/** One status in the document. */
export interface Response {
  readonly description?: string
  readonly headers?: Readonly<Record<string, { readonly schema: Schema }>>
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}

/** How often an operation may be called. */
export interface RateLimit {
  readonly perSecond: number
  readonly perMinute?: number
  readonly perHour?: number
}

/** One method of one path in the document. */
export interface Definition {
  readonly description?: string
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: {
    readonly required?: boolean
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>
  }
  readonly responses: Readonly<Record<string, Response>>
  readonly security?: ReadonlyArray<unknown>
  readonly "x-rate-limits"?: RateLimit
  readonly "x-required-permissions"?: ReadonlyArray<string>
}

/** The parts of the document that are used. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Definition>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** One change over the published document. */
export interface OverlayEntry {
  readonly at: readonly [string, ...ReadonlyArray<string>]
  readonly source: string
  readonly set?: unknown
  /** Text to put after the text that is there. */
  readonly append?: string
  /** Members to put into a list. */
  readonly add?: ReadonlyArray<string>
  /** Members to take out of a list. */
  readonly remove?: ReadonlyArray<string>
  readonly delete?: true
}

type Node = Record<string, unknown>

const apply = (document: Node, { add, append, at, remove, set, ...entry }: OverlayEntry): void => {
  let node = document
  for (const step of at.slice(0, -1)) {
    const next = node[step]
    if (typeof next !== "object" || next === null)
      throw new Error(`The overlay names ${at.join(" ")}, which is missing`)
    node = next as Node
  }
  const last = at.at(-1)!
  if (entry.delete === true) delete node[last]
  else if (set !== undefined) node[last] = set
  else if (append !== undefined) node[last] = `${String(node[last])}${append}`
  else if (add !== undefined) node[last] = [...(node[last] as ReadonlyArray<string>), ...add]
  else node[last] = (node[last] as ReadonlyArray<string>).filter((member) => remove?.includes(member) !== true)
}

/** Reads the entries of the overlay. */
export const readOverlay = (): ReadonlyArray<OverlayEntry> =>
  JSON.parse(dataFile("overlay-2.8.json")) as ReadonlyArray<OverlayEntry>

/** Reads the document, with the overlay applied. */
export const readDocument = (): Document => {
  const document = JSON.parse(dataFile("open-api-2.7.0.json")) as Node
  for (const entry of readOverlay()) apply(document, entry)
  return document as unknown as Document
}
