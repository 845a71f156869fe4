/**
 * The published schemas, samples and OpenAPI document, and the invoice of the examples.
 */
import { schemaFile } from "@govoice/ksef/schemas"
import { readdirSync, readFileSync } from "node:fs"

const fixtures = new URL("fixtures/", import.meta.url)
const text = (path: string): string => readFileSync(new URL(path, fixtures), "utf8")

/** The receipts that the Ministry published as samples, by file name. */
export const upoSamples: ReadonlyMap<string, string> = new Map(
  readdirSync(new URL("upo/przyklady/", fixtures)).map((file) => [file, text(`upo/przyklady/${file}`)])
)

/** The OpenAPI document, as text: the simulator ships it. */
export const openApi = text("../../../ksef-simulator/src/data/open-api-2.7.0.json")

/** The schema of the login document. */
export const authSchema = schemaFile("schemat_auth_v2-1.xsd")

/** The schema of the receipt. */
export const upoSchema = text("upo/upo-v4-3.xsd")
