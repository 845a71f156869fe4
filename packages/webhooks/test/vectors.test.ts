import {
  createVerifier,
  signSync,
  WebhookVerificationError,
  type VerifiedWebhook,
  type VerifierOptions
} from "@govoice/webhooks"
import vectors from "@govoice/webhooks/vectors.json" with { type: "json" }
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, assert, describe, it, vi } from "vitest"
import { printVectors, type Vector } from "./support/vectors.ts"

const file = join(import.meta.dirname, "../src/vectors.json")
if (process.env["UPDATE_VECTORS"]) writeFileSync(file, printVectors())

const published = vectors as unknown as ReadonlyArray<Vector>
const bodyOf = ({ body, bodyBase64 }: Vector) => body ?? Buffer.from(bodyBase64!, "base64")
const optionsOf = ({ secrets, now, toleranceSeconds }: Vector): VerifierOptions => ({
  secrets,
  now: () => now,
  toleranceSeconds
})

const outcome = async (run: () => VerifiedWebhook | Promise<VerifiedWebhook>) => {
  try {
    await run()
    return "ok"
  } catch (error) {
    assert.instanceOf(error, WebhookVerificationError)
    return error.code
  }
}

describe("vectors.json", () => {
  it("equals the output of the generator", () => {
    assert.strictEqual(readFileSync(file, "utf8"), printVectors())
  })

  it("has a unique name for every vector", () => {
    assert.strictEqual(new Set(published.map(({ name }) => name)).size, published.length)
  })

  it("has every code that a request can cause", () => {
    assert.sameMembers(
      [...new Set(published.map(({ expect }) => expect))],
      [
        "ok",
        "missing_header",
        "malformed_header",
        "duplicate_header",
        "malformed_timestamp",
        "timestamp_too_old",
        "timestamp_too_new",
        "no_match",
        "id_mismatch",
        "body_not_json",
        "bad_secret"
      ]
    )
  })
})

describe.each(published)("createVerifier, given the vector $name", (vector) => {
  it(`returns ${vector.expect} from verifySync by node:crypto`, async () => {
    const run = () => createVerifier(optionsOf(vector)).verifySync(bodyOf(vector), vector.headers)
    assert.strictEqual(await outcome(run), vector.expect)
  })

  it(`returns ${vector.expect} from verify by node:crypto`, async () => {
    const run = async () => createVerifier(optionsOf(vector)).verify(bodyOf(vector), vector.headers)
    assert.strictEqual(await outcome(run), vector.expect)
  })

  describe("without node:crypto", () => {
    afterEach(() => void vi.restoreAllMocks())

    it(`returns ${vector.expect} from verify by Web Crypto`, async () => {
      vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined)
      const run = async () => createVerifier(optionsOf(vector)).verify(bodyOf(vector), vector.headers)
      assert.strictEqual(await outcome(run), vector.expect)
    })
  })
})

describe("signSync", () => {
  it.each(published.filter(({ name }) => name.startsWith("good,")))(
    "returns the signature of vector $name",
    (vector) => {
      const header = (name: string) => Object.entries(vector.headers).find(([key]) => key.toLowerCase() === name)![1]
      assert.strictEqual(
        signSync({ secret: vector.secrets[0]!, timestamp: header("gov-timestamp") as string, body: bodyOf(vector) }),
        header("gov-signature")
      )
    }
  )
})
