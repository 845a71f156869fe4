/**
 * Makes the mistakes of a new user's first hour, and records the message that answers each in `mistakes.txt`.
 *
 * A person reads the record: each message names the cause and what to do.
 */
import { afterAll, assert, beforeAll, describe, expect, it } from "vitest"
import { makeCall, readAgreement, signUp, submit, until, type Call, type Tenant } from "./support/client.ts"
import { openMigrated, type TestDatabase } from "./support/databases.ts"
import { accountMistakes } from "./support/mistakes/accounts.ts"
import { commandMistakes } from "./support/mistakes/commands.ts"
import { connectionMistakes } from "./support/mistakes/connections.ts"
import { dispatcherMistakes } from "./support/mistakes/dispatchers.ts"
import type { Mistake } from "./support/mistakes/Mistake.ts"
import { receiverMistakes } from "./support/mistakes/receivers.ts"
import { requestMistakes } from "./support/mistakes/requests.ts"
import { misspelled, settingMistakes } from "./support/mistakes/settings.ts"
import { type Server, startServer } from "./support/server.ts"

const isolate = (message: string): string =>
  message
    .replaceAll(/(?<=127\.0\.0\.1:|localhost:)\d{2,5}/g, "PORT")
    .replaceAll(/test_\d+_[\da-f]{8}/g, "DATABASE")
    .replaceAll(/ERR_SSL_\w+/g, "ERR_SSL_…")

// The title, and below it the message, indented.
const entry = (title: string, message: string): string => {
  const lines = isolate(message)
    .split("\n")
    .filter((line) => line.trim() !== "")
  assert.isNotEmpty(lines, title)
  return [title, ...lines.map((line) => `    ${line.trimEnd()}`)].join("\n")
}

describe("the mistakes of a new user's first hour", () => {
  let database: TestDatabase
  let server: Server
  let call: Call
  let owner: Tenant
  beforeAll(async () => {
    database = await openMigrated()
    server = await startServer({
      ...database.settings,
      // An invoice waits long enough for its receipt to be missing.
      GOVOICE_SANDBOX_STEP_MS: "60000",
      [misspelled]: "60000",
      GOVOICE_ACCOUNT_RATE_LIMIT_PER_SECOND: "1000"
    })
    call = makeCall(() => server.url, await readAgreement(server.url))
    owner = await signUp(call)
    // A check that takes longer than five seconds lets the document pass, and the first one loads the schemas.
    const unchecked = () => submit(call, owner.testKey, { headers: { "gov-sandbox-checks": "schema" } })
    await until(unchecked, ({ status }) => status === 422)
  })
  afterAll(async () => {
    await server?.stop()
    await database?.drop()
  })

  const service = () => ({
    url: server.url,
    call,
    apiKey: owner.testKey,
    liveKey: owner.liveKey,
    accessToken: owner.token,
    email: owner.email,
    organizationId: owner.organizationId
  })

  const groups: Readonly<Record<string, ReadonlyArray<Mistake>>> = {
    "Key and base URL": connectionMistakes(service),
    "Requests with an API key": requestMistakes(service),
    "Accounts and webhook endpoints": accountMistakes(service),
    Receivers: receiverMistakes,
    Settings: settingMistakes(() => server.log()),
    Dispatcher: dispatcherMistakes,
    "Command line": commandMistakes(() => database)
  }

  it("each have a message that names the cause and what to do", async () => {
    const sections: Array<string> = []
    for (const [heading, mistakes] of Object.entries(groups)) {
      sections.push(heading.toUpperCase())
      for (const { see, title } of mistakes) sections.push(entry(title, await see()))
    }
    assert.isAtLeast(Object.values(groups).flat().length, 40)
    await expect(`${sections.join("\n\n")}\n`).toMatchFileSnapshot("mistakes.txt")
  })
})
