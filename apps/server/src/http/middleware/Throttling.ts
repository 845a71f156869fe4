/**
 * The answers to callers that have used up a limit, or for which no turn came. Their headers follow the IETF draft "RateLimit
 * header fields for HTTP".
 */
import { Problems } from "@govoice/api"
import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { turnMs } from "../../limits/Slots.ts"
import type { NamedLimit, Throttled } from "../../limits/Throttled.ts"

/** Adds headers to the response of the current request. */
export const addHeaders = (headers: Readonly<Record<string, string>>) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeaders(response, headers))
  )

/** Returns a time in whole seconds. Rounded to nanoseconds first: the product of a time that is not whole is not exact. */
export const seconds = (milliseconds: number): number => Math.ceil(Math.round(milliseconds * 1e6) / 1e9)

/** Returns the policy of a limit, an item of `RateLimit-Policy`. */
export const policyOf = ({ name, quota, unit, windowMs }: NamedLimit): string =>
  [
    `"${name}"`,
    `q=${quota}`,
    ...(windowMs === undefined ? [] : [`w=${seconds(windowMs)}`]),
    ...(unit === undefined ? [] : [`qu="${unit}"`])
  ].join(";")

const units = { "concurrent-requests": "requests at once", "content-bytes": "bytes" } as const

const describe = ({ name, quota, unit, windowMs }: NamedLimit): string =>
  `The limit "${name}" is used up: ${quota} ${unit === undefined ? "requests" : units[unit]}${
    windowMs === undefined ? "" : ` in ${seconds(windowMs)} s`
  }.`

/** Returns the headers and the message of a refusal. They name the limit. */
export const refusalOf = ({ limit, waitMs }: Pick<Throttled, "limit" | "waitMs">) => {
  const wait = Math.max(1, seconds(waitMs))
  return {
    headers: {
      "ratelimit-policy": policyOf(limit),
      ratelimit: `"${limit.name}";r=0;t=${wait}`,
      "retry-after": String(wait)
    },
    message: `${describe(limit)} Send the request again in ${wait} s (see Retry-After).`
  }
}

/** Fails with `rate_limit_exceeded`. */
export const fail = (throttled: Pick<Throttled, "limit" | "waitMs">) => {
  const { headers, message } = refusalOf(throttled)
  return Effect.andThen(addHeaders(headers), Problems.fail("rate_limit_exceeded", { message }))
}

/** Fails with `service_unavailable`: no turn came in time. */
export const failWithoutTurn = Effect.suspend(() =>
  Effect.andThen(
    addHeaders({ "retry-after": "1" }),
    Problems.fail("service_unavailable", {
      message: `The server is busy: the request waited ${seconds(turnMs)} s for its turn. Send it again.`
    })
  )
)
