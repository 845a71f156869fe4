import { assert, describe, it } from "@effect/vitest"
import { Environment } from "@govoice/ksef/client"
import * as Result from "effect/Result"

const { at, environments, mayCall } = Environment

describe("an environment of KSeF", () => {
  it.each([
    ["https://ksef.example.com/v2", "https://ksef.example.com/v2"],
    ["https://ksef.example.com:8443/api/v2/", "https://ksef.example.com:8443/api/v2"],
    ["http://127.0.0.1:4000/v2", "http://127.0.0.1:4000/v2"],
    ["http://127.9.9.9/v2", "http://127.9.9.9/v2"],
    ["http://localhost:4000/v2", "http://localhost:4000/v2"],
    ["http://[::1]:4000/v2", "http://[::1]:4000/v2"]
  ])("can have the custom URL %s", (url, baseUrl) => {
    const environment = Result.getOrThrow(at(url))
    assert.strictEqual(environment.baseUrl, baseUrl)
    assert.isFalse(environment.isPublic)
    assert.strictEqual(environment.beaconUrl, `${new URL(url).origin}/latarnia`)
  })

  it.each([
    ["", /URL/],
    ["ksef.example.com/v2", /URL/],
    ["http://ksef.example.com/v2", /https/],
    ["http://127.0.0.1.example.com/v2", /https/],
    ["http://10.0.0.1/v2", /https/],
    ["ftp://127.0.0.1/v2", /https/],
    ["https://user:secret@ksef.example.com/v2", /password/],
    ["https://ksef.example.com/v2?x=1", /query/],
    ["https://ksef.example.com/v2#x", /fragment/],
    ["https://ksef.example.com", /\/v2/],
    ["https://ksef.example.com/v2/sessions", /\/v2/]
  ])("cannot have the custom URL %j", (url, why) => {
    const result = at(url)
    assert.isTrue(Result.isFailure(result))
    assert.match(Result.isFailure(result) ? result.failure : "", why)
    assert.notInclude(Result.isFailure(result) ? result.failure : "", "secret")
  })

  it.each([
    "https://api.ksef.mf.gov.pl/v2/storage/x?sig=1",
    "https://storage.ksef.mf.gov.pl/x",
    "https://a.b.ksef.mf.gov.pl/x"
  ])("of production allows calls to %s", (url) => {
    assert.isTrue(mayCall(environments.prod, url))
  })

  it.each([
    "http://api.ksef.mf.gov.pl/x",
    "https://api.ksef.mf.gov.pl:8443/x",
    "https://ksef.mf.gov.pl.example.com/x",
    "https://evilksef.mf.gov.pl/x",
    "https://xksef.mf.gov.pl/x",
    "https://ksef.mf.gov.pl/x",
    "https://user@api.ksef.mf.gov.pl/x",
    "https://api.ksef.mf.gov.pl@example.com/x",
    "https://api.ksef.mf.gov.pl\\@example.com/x#.ksef.mf.gov.pl",
    "https://127.0.0.1/x",
    "file:///etc/passwd",
    "//api.ksef.mf.gov.pl/x",
    "/x",
    ""
  ])("of production allows calls to the hosts of its domain only: %j", (url) => {
    const allowed = mayCall(environments.prod, url)
    // A URL parser takes a backslash for a slash, and the host before it.
    assert.strictEqual(allowed, url.includes("\\"))
  })

  it("with a custom URL allows calls to the origin of that URL only", () => {
    const custom = Result.getOrThrow(at("http://127.0.0.1:4000/v2"))
    assert.isTrue(mayCall(custom, "http://127.0.0.1:4000/storage/x"))
    assert.isFalse(mayCall(custom, "http://127.0.0.1:4001/storage/x"))
    assert.isFalse(mayCall(custom, "https://127.0.0.1:4000/storage/x"))
    assert.isFalse(mayCall(custom, "https://storage.ksef.mf.gov.pl/x"))
  })
})
