/** The table of operations of `guides/api-reference.md`, from the OpenAPI document. */
import * as apiDocument from "../apps/server/src/http/handlers/apiDocument.ts"
import { code, table } from "./blocks.ts"

const methods = ["get", "post", "put", "patch", "delete"] as const

const document = apiDocument.make()

const rows = Object.entries(document.paths).flatMap(([path, operations]) =>
  methods.flatMap((method) => {
    const operation = operations[method]
    return operation === undefined ? [] : [{ group: operation.tags[0] ?? "", path, method, summary: operation.summary }]
  })
)

const section = (group: string): string =>
  [
    `## ${group}`,
    "",
    table(
      ["request", "what it does"],
      rows
        .filter((row) => row.group === group)
        .map(({ method, path, summary }) => [code(`${method.toUpperCase()} ${path}`), summary ?? ""])
    )
  ].join("\n")

/** The operations by the tag that the document gives them, in its order. */
export const operations = [...new Set(rows.map(({ group }) => group))].map(section).join("\n\n")
