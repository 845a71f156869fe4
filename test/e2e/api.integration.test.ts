/**
 * The API of the contract over HTTP, against the server as a process, on both databases. Every answer is compared with the
 * OpenAPI document of the server; in the end, every answer of the document has been seen.
 *
 * The suites are in `api/`, by resource. They share the servers and the record of answers.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { testAccounts } from "./api/accounts.ts"
import { testApiKeys } from "./api/apiKeys.ts"
import { testCredentials } from "./api/credentials.ts"
import { testDeployments } from "./api/deployments.ts"
import { testIdempotency } from "./api/idempotency.ts"
import { testInvoices } from "./api/invoices.ts"
import { testInvoiceLists } from "./api/invoiceLists.ts"
import { testLists } from "./api/lists.ts"
import { testMe } from "./api/me.ts"
import { testOperations } from "./api/operations.ts"
import { testOrganizations } from "./api/organizations.ts"
import { testOtherPaths } from "./api/otherPaths.ts"
import { testOutage } from "./api/outage.ts"
import { testOwnerReads } from "./api/ownerReads.ts"
import { testLogins } from "./api/logins.ts"
import { testSubmissions } from "./api/submissions.ts"
import { testTenancy } from "./api/tenancy.ts"
import { testWebhookEndpoints } from "./api/webhookEndpoints.ts"
import { type ApiSuite, record } from "./api/suite.ts"
import type { Agreement } from "./support/agreement.ts"
import { type Call, makeCall, readAgreement, signUp, submit, type Tenant, until } from "./support/client.ts"
import { databases, type TestDatabase } from "./support/databases.ts"
import { type Server, startServer } from "./support/server.ts"

const agreements: Array<Agreement> = []

const suites: ReadonlyArray<(api: ApiSuite) => void> = [
  testMe,
  testCredentials,
  testSubmissions,
  testIdempotency,
  testInvoices,
  testAccounts,
  testLogins,
  testOrganizations,
  testApiKeys,
  testWebhookEndpoints,
  testOwnerReads,
  testInvoiceLists,
  testLists,
  testTenancy,
  testOperations,
  testOtherPaths
]

for (const { name, open } of databases) {
  describe(`the API on ${name}`, () => {
    let database: TestDatabase
    let server: Server
    let agreement: Agreement
    let tenant: Tenant
    let other: Tenant

    const call: Call = (...request) => makeCall(() => server.url, agreement)(...request)

    beforeAll(async () => {
      database = await open()
      server = await startServer({
        ...database.settings,
        GOVOICE_RATE_LIMIT_PER_SECOND: "10000",
        GOVOICE_RATE_LIMIT_BURST: "10000",
        GOVOICE_ACCOUNT_RATE_LIMIT_BURST: "10000",
        GOVOICE_ACCOUNT_CONCURRENCY: "200"
      })
      agreement = await readAgreement(server.url)
      agreements.push(agreement)
      tenant = await signUp(call)
      other = await signUp(call)
    })

    afterAll(async () => {
      await server?.stop()
      await database?.drop()
    })

    const api: ApiSuite = {
      call,
      get server() {
        return server
      },
      get tenant() {
        return tenant
      },
      get other() {
        return other
      },
      accepted: async (key = tenant.testKey) => {
        const invoiceId = String(record(await submit(call, key))["id"])
        await until(
          () => call("GET", `/v1/invoices/${invoiceId}`, { auth: key }),
          (answer) => record(answer)["upo_available"] === true
        )
        return invoiceId
      }
    }

    for (const suite of suites) suite(api)
  })
}

testDeployments((agreement) => void agreements.push(agreement))
testOutage((agreement) => void agreements.push(agreement))

describe("the OpenAPI document", () => {
  it("promises no answer that this suite has not seen", () => {
    const seen = new Set(agreements.flatMap((agreement) => [...agreement.seen]))
    // A body that is too slow has a test of its own: apiSlowBodies.
    assert.deepStrictEqual(
      agreements[0]!.documented().filter((answer) => !seen.has(answer) && !answer.endsWith(" 408 request_timeout")),
      []
    )
  })
})
