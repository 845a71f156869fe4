/** What mails say of names that somebody chose. */
import { Ids } from "@govoice/core"
import { assert, describe, it } from "vitest"
import { noticeMail } from "../../src/mail/texts.ts"

const id = Ids.make("org", 1_700_000_000_000, new Uint8Array(Ids.randomLength))

const mailOf = (name: string) => {
  const mail = noticeMail(
    "en",
    [
      {
        kind: "credential_expiring",
        organization_id: id,
        organization_name: name,
        is_told: false,
        key: "credential",
        version: new Date(0),
        endpoint_id: null,
        url: null,
        at: new Date("2026-12-01T12:00:00Z")
      }
    ],
    { disableAfterDays: null, publicUrl: "https://govoice.example.com" }
  )!
  return [mail.subject, ...mail.lines].join("\n")
}

describe("the name of an organization in a mail", () => {
  it("is as its owner wrote it, on one line", () => {
    assert.include(
      mailOf("Piekarnia Pod Dębem sp. z o.o."),
      "KSeF credential of Piekarnia Pod Dębem sp. z o.o. expires"
    )
    assert.include(mailOf("Pod\r\n\u202EDębem"), "KSeF credential of Pod Dębem expires")
  })

  it("is its identifier if it would be a link or a text", () => {
    for (const name of [
      "log in at https://example.org/login",
      "example.org",
      "example。org",
      "write to owner@example",
      "Your account was blocked. ".repeat(4),
      "\u200B"
    ]) {
      assert.include(mailOf(name), `KSeF credential of ${id} expires`, name)
    }
  })
})
