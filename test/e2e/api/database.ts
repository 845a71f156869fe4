/** The suites of all resources. They share the servers and the record of answers. */
import { afterAll, beforeAll, describe } from "vitest"
import type { Agreement } from "../support/agreement.ts"
import { type Call, makeCall, readAgreement, signUp, submit, type Tenant, until } from "../support/client.ts"
import type { DatabaseOfRun, TestDatabase } from "../support/databases.ts"
import { type Server, startServer } from "../support/server.ts"
import { testAccounts } from "./accounts.ts"
import { testApiKeys } from "./apiKeys.ts"
import { testOffline } from "./offline.ts"
import { testCredentials } from "./credentials.ts"
import { testIdempotency } from "./idempotency.ts"
import { testInvoices } from "./invoices.ts"
import { testInvoiceLists } from "./invoiceLists.ts"
import { testLists } from "./lists.ts"
import { testMe } from "./me.ts"
import { testOperations } from "./operations.ts"
import { testOrganizations } from "./organizations.ts"
import { testOtherPaths } from "./otherPaths.ts"
import { testOwnerReads } from "./ownerReads.ts"
import { testLogins } from "./logins.ts"
import { testSubmissions } from "./submissions.ts"
import { testTenancy } from "./tenancy.ts"
import { testWebhookEndpoints } from "./webhookEndpoints.ts"
import { type ApiSuite, record } from "./suite.ts"

const suites: ReadonlyArray<(api: ApiSuite) => void> = [
  testMe,
  testCredentials,
  testOffline,
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

/** Registers the tests of all resources against a server on this database. */
export const testDatabase = ({ name, open }: DatabaseOfRun, onAgreement: (agreement: Agreement) => void): void => {
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
        GOVOICE_ACCOUNT_RATE_LIMIT_PER_SECOND: "1000"
      })
      agreement = await readAgreement(server.url)
      onAgreement(agreement)
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
