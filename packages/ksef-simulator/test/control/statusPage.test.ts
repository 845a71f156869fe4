import { XmlDocument } from "libxml2-wasm"
import { assert, describe, it } from "vitest"
import { Client } from "../support/Client.ts"
import { fa3 } from "../support/invoices.ts"
import { start } from "../support/simulator.ts"

const hostile = `<script>alert(1)</script>"'&amp;</style>`

describe("the page at /", () => {
  it("shows sessions, documents, faults, limits and calls, and nothing that was sent as markup", async () => {
    const simulator = await start({ seed: hostile })
    const client = await Client.login(simulator)
    const session = await client.open()
    const escaped = hostile.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
    const invoice = await client.submit(session, fa3({ number: escaped }))
    await client.submit(session, fa3({ number: "refused", issueDate: "2049-01-01" }))
    simulator.faults.add({ do: "exception", code: 21173, details: [hostile], on: "getRateLimits" })
    await client.call("GET", `/sessions/${encodeURIComponent(hostile)}`)
    await client.call("GET", `/${encodeURIComponent(hostile)}`)
    const answer = await fetch(simulator.pageUrl)
    const text = await answer.text()
    assert.notInclude(text, "<script")
    assert.strictEqual(text.split("</style>").length, 2)
    for (const shown of [session.reference, invoice.ksefNumber!, simulator.nip, simulator.token, "getSession"]) {
      assert.include(text, shown)
    }
    assert.include(text, "2049-01-01")
    assert.include(text, "exception")
    assert.match(text, /&lt;script&gt;alert\(1\)/)
    assert.match(text, /<meter [^>]*value="\d+"/)
    // The page is well-formed also with a hostile name in it.
    XmlDocument.fromString(text.replace("<!doctype html>", "")).dispose()
  })

  it("loads nothing, runs no script, and cannot be framed", async () => {
    const simulator = await start()
    const { headers } = await fetch(simulator.pageUrl)
    const policy = headers.get("content-security-policy") ?? ""
    for (const part of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"]) {
      assert.include(policy, part)
    }
    assert.notInclude(policy, "script-src")
    assert.deepStrictEqual(
      ["x-content-type-options", "referrer-policy", "cache-control"].map((name) => headers.get(name)),
      ["nosniff", "no-referrer", "no-store"]
    )
    const text = await (await fetch(simulator.pageUrl)).text()
    assert.notMatch(text, /\b(?:src|href)="(?!\/)/)
  })

  it("refreshes itself on request", async () => {
    const simulator = await start()
    assert.notInclude(await (await fetch(simulator.pageUrl)).text(), "http-equiv")
    assert.include(await (await fetch(`${simulator.pageUrl}?refresh`)).text(), 'http-equiv="refresh"')
  })

  it("shows the newest fifty of each list", async () => {
    const simulator = await start({ limits: "off" })
    const client = await Client.login(simulator)
    for (let call = 0; call < 300; call++) await client.call("GET", "/rate-limits")
    const begin = performance.now()
    const text = await (await fetch(simulator.pageUrl)).text()
    assert.isBelow(performance.now() - begin, 10_000)
    assert.match(text, /the newest 50 of 3\d\d/)
    assert.strictEqual(text.split("<td>getRateLimits</td>").length - 1, 50)
  })
})
