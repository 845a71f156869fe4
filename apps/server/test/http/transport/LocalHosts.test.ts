import { assert, describe, it } from "vitest"
import * as LocalHosts from "../../../src/http/transport/LocalHosts.ts"

const local = [
  "localhost",
  "localhost:3000",
  "LOCALHOST",
  "localhost.",
  "govoice.localhost:3000",
  "127.0.0.1",
  "127.0.0.1:3000",
  "192.168.1.7:3000",
  "[::1]",
  "[::1]:3000",
  "api",
  "api:3000",
  undefined
]
const foreign = [
  "govoice.example.com",
  "govoice.example.com:3000",
  "rebound.example",
  "localhost.example.com",
  "127.0.0.1.example.com:3000",
  "evil.localhost.example.",
  "1.2.3",
  "0x7f.1"
]

describe("LocalHosts", () => {
  it.each(["127.0.0.1", "127.1.2.3", "::1", "localhost"])("serves local names alone on %s", (listening) => {
    const isServed = LocalHosts.make(listening)
    assert.deepStrictEqual(
      local.filter((host) => !isServed(host)),
      []
    )
    assert.deepStrictEqual(foreign.filter(isServed), [])
  })

  it.each(["0.0.0.0", "::", "10.0.0.7", "govoice.example.com"])("serves every name on %s", (listening) => {
    const isServed = LocalHosts.make(listening)
    assert.deepStrictEqual(
      [...local, ...foreign].filter((host) => !isServed(host)),
      []
    )
  })
})
