/**
 * Writes the API reference as a page of the documentation site, and the OpenAPI document beside it:
 *
 *     node --conditions=source apps/server/buildReference.ts docs/api
 */
import { Api } from "@govoice/api"
import { Effect } from "effect"
import { OpenApi } from "effect/http-api"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as referencePage from "./src/http/handlers/referencePage.ts"

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error("Name the folder of the site: buildReference.ts <folder>")

// The site is not a deployment: the examples call the server of the quick starts.
const document = {
  ...OpenApi.fromApi(Api),
  servers: [{ url: "http://127.0.0.1:3000", description: "A server on your machine." }]
}
// A server has the pages of the codes at `/docs/errors`, the site among its documents.
const shown = JSON.parse(
  JSON.stringify(document).replaceAll(/\(\/docs\/errors\/(\w+)\)/g, "(documents/Errors.$1.html)")
) as typeof document
const { html } = await Effect.runPromise(
  referencePage.make(shown, { icon: "assets/favicon.svg", document: "openapi.json", home: "index.html" })
)
writeFileSync(join(folder, "reference.html"), html)
writeFileSync(join(folder, "openapi.json"), `${JSON.stringify(document, null, 2)}\n`)
