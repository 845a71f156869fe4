/**
 * Clients that are generated from the OpenAPI document take what a later version of the service may answer: a status, an event type
 * or an error code that is new, and members that are new.
 */
import { once } from "node:events"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { makeProject, type Project } from "../packaging/support/project.ts"
import { invoice } from "./support/service.ts"

const later = {
  ...invoice,
  mode: "rehearsal",
  status: "archived",
  scenario: "archived",
  archive: { shelf: 4 },
  rejection: { code: "any", message: "Any.", line: 7 }
}
const laterError = {
  error: {
    type: "archive_error",
    code: "invoice_archived",
    message: "The invoice is in the archive.",
    param: null,
    request_id: "req_01k9f3qg5vb1c2d3e4f5g6h7j8",
    retryable: false,
    shelf: 4
  }
}
const laterDelivery = {
  id: "wd_01k9f3qg5vb1c2d3e4f5g6h7j8",
  object: "webhook_delivery",
  event_id: "evt_01k9f3qg5vb1c2d3e4f5g6h7j8",
  event_type: "invoice.archived",
  endpoint_id: "we_01k9f3qg5vb1c2d3e4f5g6h7j8",
  status: "parked",
  attempt_count: 0,
  last_http_status: null,
  last_error_summary: null,
  next_retry_at: null,
  created_at: "2026-01-01T00:00:00.000Z",
  updated_at: "2026-01-01T00:00:00.000Z",
  last_attempted_at: null,
  delivered_at: null,
  shelf: 4
}
const page = { object: "list", data: [laterDelivery], has_more: false, next_cursor: null, total: 1 }

const configurations = {
  "document.mjs": `
import { Api } from "@govoice/api"
import { OpenApi } from "effect/http-api"
import { writeFileSync } from "node:fs"
writeFileSync("openapi.json", JSON.stringify(OpenApi.fromApi(Api)))`,
  "hey.config.mjs": `
export default {
  input: "openapi.json",
  output: "hey",
  plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "zod", { name: "@hey-api/sdk", validator: true }]
}`,
  "orval.config.mjs": `
export default { govoice: { input: "openapi.json", output: { target: "orval.ts", client: "zod" } } }`
}

const generators = {
  "openapi-typescript": ["node_modules/openapi-typescript/bin/cli.js", "openapi.json", "-o", "types.d.ts"],
  "@hey-api/openapi-ts": ["node_modules/@hey-api/openapi-ts/bin/run.js", "-f", "hey.config.mjs"],
  orval: ["node_modules/orval/dist/bin/orval.mjs", "--config", "orval.config.mjs"],
  "swagger-typescript-api": [
    "node_modules/swagger-typescript-api/dist/cli.mjs",
    "generate",
    "-p",
    "openapi.json",
    "-o",
    "swagger",
    "-n",
    "api.ts"
  ]
}

const types = `
import type { components } from "./types.d.ts"
const later = { invoice: ${JSON.stringify(later)}, delivery: ${JSON.stringify(laterDelivery)}, error: ${JSON.stringify(laterError)} }
const { delivery: { object, ...delivery }, error, invoice: { object: kind, ...invoice } } = later
export const invoices: ReadonlyArray<components["schemas"]["Invoice"]> = [{ object: "invoice", ...invoice }]
export const deliveries: ReadonlyArray<components["schemas"]["WebhookDelivery"]> = [{ object: "webhook_delivery", ...delivery }]
export const errors: ReadonlyArray<components["schemas"]["Error"]> = [error]
// @ts-expect-error requests have no other members
export const request: components["schemas"]["SubmissionRequest"] = { invoice_xml: "<a/>", invoiceXml: "<a/>" }
`

const programs = (baseUrl: string) => ({
  "orval.mts": `
import { InvoicesGetResponse, WebhookEndpointsListDeliveriesResponse } from "./orval.ts"
const { status } = InvoicesGetResponse.parse(${JSON.stringify(later)})
const { data } = WebhookEndpointsListDeliveriesResponse.parse(${JSON.stringify(page)})
console.log(status, data[0].status)`,
  "hey.mts": `
import { invoicesGet, webhookEndpointsListDeliveries } from "./hey/sdk.gen.ts"
const options = { baseUrl: "${baseUrl}", throwOnError: true } as const
const { data: invoice } = await invoicesGet({ ...options, path: { id: "${later.id}" } })
const { data: list } = await webhookEndpointsListDeliveries({ ...options, path: { endpoint_id: "we_1" } })
const { error } = await invoicesGet({ baseUrl: "${baseUrl}", path: { id: "inv_1" } })
console.log(invoice.status, list.data[0].status, error.error.code)`,
  "swagger.mts": `
import { Api } from "./swagger/api.ts"
const { v1 } = new Api({ baseUrl: "${baseUrl}" })
const { data: invoice } = await v1.invoicesGet("${later.id}")
const { data: list } = await v1.webhookEndpointsListDeliveries("we_1")
const { error } = await v1.invoicesGet("inv_1").catch((response) => response)
console.log(invoice.status, list.data[0].status, error.error.code)`
})

describe("Generated clients", () => {
  let server: Server
  let project: Project
  beforeAll(async () => {
    server = createServer(({ url }, response) => {
      const isKnown = url === `/v1/invoices/${later.id}`
      const answer = isKnown ? later : url!.endsWith("/deliveries") ? page : laterError
      const headers = { "content-type": "application/json" }
      response.writeHead(answer === laterError ? 404 : 200, headers).end(JSON.stringify(answer))
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    project = makeProject({
      packages: ["@govoice/api"],
      tools: ["effect"],
      others: {
        "@hey-api/openapi-ts": "0.99.0",
        esbuild: "0.28.2",
        "openapi-typescript": "7.13.0",
        orval: "8.38.0",
        "swagger-typescript-api": "13.13.0",
        typescript: "6.0.3",
        zod: "4.6.7"
      },
      type: "module"
    })
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const files = { ...configurations, ...programs(baseUrl), "types.mts": types }
    for (const [name, text] of Object.entries(files)) project.write(name, text)
    await project.execute(process.execPath, ["document.mjs"])
    for (const command of Object.values(generators)) await project.execute(process.execPath, command)
  })
  afterAll(() => {
    server?.close()
    server?.closeAllConnections()
    project?.remove()
  })

  const run = async (name: string) => {
    const bundle = [name, "--bundle", "--platform=node", "--format=esm", "--log-level=error", `--outfile=${name}.mjs`]
    await project.execute(process.execPath, ["node_modules/esbuild/bin/esbuild", ...bundle])
    return project.execute(process.execPath, [`${name}.mjs`])
  }

  it("of openapi-typescript have types that allow it", async () => {
    const options = [
      "--noEmit",
      "--strict",
      "--module",
      "nodenext",
      "--target",
      "es2022",
      "--allowImportingTsExtensions"
    ]
    await project.execute(process.execPath, ["node_modules/typescript/bin/tsc", ...options, "types.mts"])
  })

  it("of orval (zod) parse it", async () => {
    assert.strictEqual(await run("orval.mts"), "archived parked\n")
  })

  it("of @hey-api/openapi-ts, with its validator, return it", async () => {
    assert.strictEqual(await run("hey.mts"), "archived parked invoice_archived\n")
  })

  it("of swagger-typescript-api return it", async () => {
    assert.strictEqual(await run("swagger.mts"), "archived parked invoice_archived\n")
  })
})
