/** The configuration of nginx that leads each request to its cell: the file that the site of `deploy/cells/nginx.conf` includes. */
import { patterns } from "./CellRoutes.ts"
import type { Cell } from "./directoryTables.ts"

const upstream = ({ name, url }: Cell): string =>
  `upstream govoice_${name} {\n  server ${new URL(url).host};\n  keepalive 32;\n  keepalive_timeout 50s;\n}\n`

const map = (from: string, to: string, byDefault: string, entries: ReadonlyArray<readonly [string, string]>): string =>
  [
    `map ${from} ${to} {`,
    `  default ${byDefault};`,
    ...entries.map(([key, value]) => `  ${key} ${value};`),
    "}",
    ""
  ].join("\n")

// Each pattern has a group of its own, because a group becomes a variable.
const entry = (pattern: string, variable: string, before = "^"): readonly [string, string] => [
  `"~${pattern.replace("?<bucket>", `?<${variable}>`).replace("^", before)}"`,
  `$${variable}`
]

const anyMethod = "^[A-Z]+ "

/** Prints it for the cells of the directory, and the cell of each bucket. */
export const print = (cells: ReadonlyArray<Cell>, buckets: ReadonlyMap<string, string>): string => {
  const control = `govoice_${cells.find(({ is_control }) => is_control)!.name}`
  const moved = [...buckets].filter(([, name]) => `govoice_${name}` !== control)
  return [
    "# Printed by `govoice cells proxy`. It changes when a cell is added or an organization moves.",
    ...cells.map(upstream),
    "# The bucket of the API key.",
    map("$http_authorization", "$govoice_key_bucket", '""', [entry(patterns.apiKey, "govoice_in_key")]),
    "# The bucket of the organization, or `control`.",
    map('"$request_method $uri"', "$govoice_bucket", "control", [
      [`"~${patterns.rename}"`, "control"],
      entry(patterns.organization, "govoice_in_organization", anyMethod),
      entry(patterns.apiKeyId, "govoice_in_api_key", anyMethod),
      entry(patterns.endpoint, "govoice_in_endpoint", anyMethod),
      [`"~${patterns.control.replace("^", anyMethod)}"`, "control"],
      [`"~${patterns.developer.replace("^", anyMethod)}"`, "$govoice_key_bucket"]
    ]),
    "# Buckets that are not listed are those of the control cell.",
    map(
      "$govoice_bucket",
      "$govoice_cell",
      control,
      moved.map(([bucket, name]) => [bucket, `govoice_${name}`] as const)
    ),
    "# The cell that a wrong one names, when an organization has moved since this file was printed.",
    map(
      "$govoice_named",
      "$govoice_other_cell",
      control,
      cells.map(({ name }) => [name, `govoice_${name}`] as const)
    )
  ].join("\n")
}
