/** A client on a stubbed `fetch`. */
import { assert } from "vitest"
import { createClient, type GovoiceError } from "../../src/index.ts"
import type { stub } from "./stub.ts"

export const baseUrl = "https://api.example.com"
export const apiKey = "sk_test_secret"

export const connect = (fetch: ReturnType<typeof stub>["fetch"], more: object = {}) =>
  createClient({ apiKey, baseUrl, fetch, ...more })

export const rejection = async (promise: Promise<unknown>): Promise<GovoiceError> => {
  const error: unknown = await promise.then(
    () => assert.fail("it succeeded"),
    (error: unknown) => error
  )
  return error as GovoiceError
}
