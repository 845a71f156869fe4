/** Gathers the query parameters `metadata[key]=value` of a list in one parameter `metadata`. */
import { Problems, Validation } from "@govoice/api"
import { Metadata } from "@govoice/core"
import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"

const invalid = (param: string, message: string) => Problems.fail("invalid_parameter", { param, message })

/** Provides `MetadataFilter`. */
export const layer: Layer.Layer<Validation.MetadataFilter> = Layer.succeed(Validation.MetadataFilter)(
  Effect.fnUntraced(function* (httpEffect) {
    const given = yield* HttpServerRequest.ParsedSearchParams
    const others: Array<readonly [string, string | Array<string>]> = []
    const metadata: Array<readonly [string, string]> = []
    for (const [name, value] of Object.entries(given)) {
      const key = /^metadata\[(.*)\]$/s.exec(name)?.[1]
      if (name === "metadata") {
        return yield* Problems.fail("unknown_parameter", {
          param: "metadata",
          message: "metadata: must name a key, as in metadata[order]=2026/11/0042."
        })
      }
      if (key === undefined) others.push([name, value])
      else if (typeof value !== "string") return yield* invalid("metadata", "metadata: must not have a key twice.")
      else metadata.push([key, value])
    }
    if (metadata.length === 0) return yield* httpEffect

    // Parsed from entries, so that a key such as `__proto__` is a key.
    const wanted: unknown = Object.fromEntries(metadata)
    const fault = Metadata.fault(wanted)
    if (fault !== undefined) return yield* invalid("metadata", fault)
    const params = Object.fromEntries([...others, ["metadata", JSON.stringify(wanted)]])
    return yield* Effect.provideService(httpEffect, HttpServerRequest.ParsedSearchParams, params)
  })
)
