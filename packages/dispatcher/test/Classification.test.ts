/** Every known code and its reason. Codes that a server can cause are also tested with a server, in other files. */
import { assert, describe, it } from "@effect/vitest"
import { describe as say, type Outcome } from "@govoice/dispatcher"
import { codeOf, PeerAddressError, ProtocolError, reasonOf } from "../src/internal/classify.ts"
import type { Phase } from "../src/Options.ts"
import { failed, sendOnce, serveHttp, stable, unusedPort } from "./support/servers.ts"

const coded = (code: string, message = "x") => Object.assign(new Error(message), { code })
const named = (name: string) => Object.assign(new Error("x"), { name })

// oxfmt-ignore
const table: ReadonlyArray<readonly [reason: ReturnType<typeof reasonOf>, phase: Phase, codes: ReadonlyArray<string>]> = [
  ["dns", "lookup", ["ENOTFOUND", "ENODATA", "EAI_AGAIN", "EAI_FAIL", "ESERVFAIL", "EREFUSED", "ETIMEOUT", "ECONNREFUSED", "anything"]],
  ["connect", "connect", ["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT", "EADDRNOTAVAIL", "UND_ERR_CONNECT_TIMEOUT", "ECONNRESET", "EMFILE", "anything"]],
  ["tls", "tls", ["ERR_TLS_CERT_ALTNAME_INVALID", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "DEPTH_ZERO_SELF_SIGNED_CERT", "SELF_SIGNED_CERT_IN_CHAIN", "CERT_HAS_EXPIRED", "ERR_SSL_WRONG_VERSION_NUMBER", "EPROTO", "ECONNRESET", "anything"]],
  ["timeout", "response", ["UND_ERR_HEADERS_TIMEOUT"]],
  ["reset", "response", ["ECONNRESET", "EPIPE", "ECONNABORTED", "UND_ERR_SOCKET", "ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC", "EPROTO", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"]],
  ["protocol", "response", ["UND_ERR_HEADERS_OVERFLOW", "UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "UND_ERR_RES_EXCEEDED_MAX_SIZE", "ERR_ASSERTION", "anything"]]
]

describe("The reason of an error", () => {
  for (const [reason, phase, codes] of table) {
    for (const code of codes) {
      it(`${code} in the phase ${phase} is ${reason}`, () => {
        assert.strictEqual(reasonOf(phase, coded(code)), reason)
      })
    }
  }

  it("of undici's parser follows from its name, because it has no code", () => {
    assert.strictEqual(reasonOf("response", named("HTTPParserError")), "protocol")
    assert.strictEqual(codeOf(named("HTTPParserError")), "HTTPParserError")
  })

  it("of undici for a forbidden response is not reset", () => {
    assert.strictEqual(reasonOf("response", coded("UND_ERR_SOCKET", "bad upgrade")), "protocol")
    assert.strictEqual(reasonOf("response", coded("UND_ERR_SOCKET", "bad response")), "protocol")
    assert.strictEqual(reasonOf("response", coded("UND_ERR_SOCKET", "other side closed")), "reset")
  })

  it("of a ProtocolError is protocol", () => {
    assert.strictEqual(reasonOf("response", new ProtocolError("x")), "protocol")
    assert.strictEqual(codeOf(new PeerAddressError("x")), "GOVOICE_PEER_ADDRESS")
  })

  it("of an AggregateError has its own code, or the code of its first error", () => {
    const several = new AggregateError([coded("EHOSTUNREACH"), coded("ECONNREFUSED")])
    assert.strictEqual(codeOf(several), "EHOSTUNREACH")
    assert.strictEqual(codeOf(Object.assign(several, { code: "ECONNREFUSED" })), "ECONNREFUSED")
  })

  for (const [what, error] of [
    ["text", "x"],
    ["nothing", undefined],
    ["null", null],
    ["a plain object", { code: "ECONNRESET" }],
    ["an error without a code", new Error("x")],
    ["an error with a number for a code", Object.assign(new Error("x"), { code: 7 })],
    ["an error with the code of a member of every object", coded("constructor")]
  ] as const) {
    it(`that is ${what} is protocol`, () => {
      assert.strictEqual(reasonOf("response", error), "protocol")
      assert.isString(codeOf(error))
    })
  }
})

describe("Outcome", () => {
  const durationMs = 1
  const failure = (
    reason: "timeout" | "dns" | "connect" | "tls" | "reset" | "protocol",
    attempted: boolean
  ): Outcome => ({
    _tag: "Failed",
    reason,
    retryable: true,
    attempted,
    durationMs
  })

  it("is described in a sentence that reveals nothing about the network", () => {
    const told = new Set([
      say(failure("dns", false)),
      say(failure("connect", false)),
      say(failure("tls", false)),
      say(failure("timeout", false)),
      say(failure("reset", true)),
      say(failure("protocol", true))
    ])
    assert.deepEqual([...told], ["The connection failed."])
    assert.strictEqual(say(failure("timeout", true)), "The request timed out.")
  })

  it("is described without the rule that blocked the request", () => {
    for (const rule of ["private", "metadata", "host", "port", "unreadable-address"] as const) {
      const outcome: Outcome = { _tag: "Blocked", rule, retryable: false, attempted: false, durationMs }
      assert.strictEqual(say(outcome), "The endpoint address is not allowed.")
    }
  })

  it("is described with what is wrong with the text of the URL", async () => {
    for (const [url, sentence] of [
      [
        "example.com/hooks",
        "The URL is not complete. It needs a scheme and a host, such as https://example.com/hooks."
      ],
      ["ftp://example.com/", "The URL does not begin with https://."],
      ["https://user@example.com/", "The URL has a user name or a password. Remove them."]
    ] as const)
      assert.strictEqual(say(await sendOnce(url)), sentence)
  })

  it("is described with the status of the response", () => {
    assert.strictEqual(
      say({ _tag: "Delivered", status: 204, attempted: true, durationMs }),
      "The endpoint returned HTTP 204."
    )
    const refused: Outcome = { _tag: "Refused", status: 503, retryable: true, attempted: true, durationMs }
    assert.strictEqual(say(refused), "The endpoint returned HTTP 503.")
  })

  it("has exactly the documented members", async () => {
    const receiver = await serveHttp((_, response) => response.writeHead(500).end())
    const refused = await sendOnce(`http://name.test:${receiver.port}/`)
    assert.sameMembers(Object.keys(refused), ["_tag", "status", "retryable", "attempted", "durationMs"])
    const port = await unusedPort()
    const unconnected = await sendOnce(`http://name.test:${port}/`)
    assert.sameMembers(Object.keys(unconnected), ["_tag", "reason", "retryable", "attempted", "durationMs"])
    assert.deepEqual(stable(unconnected), failed("connect", false))
    const blocked = await sendOnce("http://10.0.0.1/")
    assert.sameMembers(Object.keys(blocked), ["_tag", "rule", "retryable", "attempted", "durationMs"])
  })
})
