/**
 * UPOs against the Ministry's schema, which has no place for the signature that real ones carry.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Signature } from "@govoice/ksef/xades"
import * as Result from "effect/Result"
import { XmlDocument, XsdValidator } from "libxml2-wasm"
import { assert, describe, it } from "vitest"
import type { Simulator } from "../../src/startSimulator.ts"
import { Client, sha256 } from "../support/Client.ts"
import { fa3 } from "../support/invoices.ts"
import { start } from "../support/simulator.ts"

const schema = XmlDocument.fromString(
  readFileSync(join(import.meta.dirname, "../../../ksef/test/fixtures/upo/upo-v4-3.xsd"), "utf8")
)
const validator = XsdValidator.fromDoc(schema)

const faultOf = (upo: string): string | undefined => {
  const document = XmlDocument.fromString(upo.replace(/<ds:Signature[^]*<\/ds:Signature>/, ""))
  try {
    validator.validate(document)
    return undefined
  } catch (error) {
    return String(error)
  } finally {
    document.dispose()
  }
}

const uposOf = async (simulator: Simulator): Promise<ReadonlyArray<string>> => {
  const client = await Client.login(simulator)
  const session = await client.open()
  const invoice = await client.submit(session, fa3({ number: "A & <B>".replace("&", "&amp;").replace("<", "&lt;") }))
  const single = `/sessions/${session.reference}/invoices/${invoice.referenceNumber}/upo`
  const byNumber = `/sessions/${session.reference}/invoices/ksef/${invoice.ksefNumber}/upo`
  await client.close(session)
  const { upo } = await client.sessionStatus(session.reference)
  const whole = `/sessions/${session.reference}/upo/${upo!.pages[0]!.referenceNumber}`
  const answers = await Promise.all([single, byNumber, whole].map((path) => client.call("GET", path)))
  for (const { headers, text } of answers) assert.strictEqual(headers.get("x-ms-meta-hash"), sha256(text))
  const links = [invoice.upoDownloadUrl!, upo!.pages[0]!.downloadUrl]
  const linked = await Promise.all(links.map(async (url) => (await fetch(url)).text()))
  assert.deepStrictEqual(linked, [answers[0]!.text, answers[2]!.text])
  return answers.map(({ text }) => text)
}

describe("UPO", () => {
  it("of a document and of a session are valid, signed, and say that they are simulated", async () => {
    for (const upo of await uposOf(await start())) {
      assert.isUndefined(faultOf(upo))
      assert.include(upo, "Simulated by @govoice/ksef-simulator")
      const verified = Result.getOrThrow(Signature.verify(upo))
      assert.include(verified.certificate.subject, "not the Ministry of Finance")
      assert.isTrue(Result.isFailure(Signature.verify(upo.replace("FV", "FX").replace("A &amp;", "B &amp;"))))
    }
  })

  it("with the name of the environment violates the schema in that name only, as real ones do", async () => {
    const [upo] = await uposOf(await start({ upoName: "environment" }))
    assert.include(upo!, "Ministerstwo Finansów - środowisko testowe (TE)")
    assert.isUndefined(faultOf(upo!.replace(" - środowisko testowe (TE)", "")))
    assert.isDefined(faultOf(upo!))
  })
})
