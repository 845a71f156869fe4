/**
 * Checks that each table of the database is named only in statements of the folder of the server that owns it, or of a file
 * with a written reason.
 */
import { globSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import ts from "typescript"
import { assert, describe, it } from "vitest"

const root = resolve(import.meta.dirname, "../../apps/server/src")

/** The folder that owns each table, with its subfolders. */
const owners: Readonly<Record<string, string>> = {
  accounts: "accounts",
  api_keys: "accounts",
  organizations: "accounts",
  refresh_tokens: "accounts",
  sessions: "accounts",
  idempotency_records: "invoices",
  invoice_documents: "invoices",
  invoices: "invoices",
  receipts: "invoices",
  national_environment: "invoices/live",
  national_lanes: "invoices/live",
  national_logins: "invoices/live",
  national_sessions: "invoices/live",
  national_submissions: "invoices/live",
  deliveries: "webhooks",
  events: "webhooks",
  organization_concurrency: "webhooks",
  webhook_endpoints: "webhooks"
}

interface Exception {
  /** A file, or a folder with its subfolders. */
  readonly path: string
  readonly tables: ReadonlyArray<string>
  readonly reason: string
}

const exceptions: ReadonlyArray<Exception> = [
  {
    path: "invoices/live",
    tables: ["organizations"],
    reason: "The credential columns of organizations belong to live mode: decision 0026."
  },
  {
    path: "invoices/SubmitInvoice.ts",
    tables: ["organizations"],
    reason: "A submission wakes the lane of the taxpayer of the credential: decision 0026."
  },
  {
    path: "maintenance/SealedColumns.ts",
    tables: ["national_logins", "organizations", "webhook_endpoints"],
    reason: "The rotation of keys re-encrypts the sealed columns of all tables by the same two statements."
  }
]

const isIn = (file: string, path: string): boolean => file === path || file.startsWith(`${path}/`)

/** Reads the tables that a migration creates. */
const tablesOf = (text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(/CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?([a-z_]+)/g), ([, table]) => table!)

const tables: ReadonlySet<string> = new Set(
  globSync("database/migrations/*.ts", { cwd: root }).flatMap((file) =>
    tablesOf(readFileSync(join(root, file), "utf8"))
  )
)

/** Returns the texts of templates and strings, without comments. Expressions of a template are a space. */
const textsOf = (name: string, text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const visit = (node: ts.Node): void => {
    if (ts.isTemplateExpression(node)) {
      found.push([node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join(" "))
    } else if (ts.isStringLiteralLike(node)) {
      const { parent } = node
      // The places of sealed values name their table, and statements are made from them.
      const isTable = ts.isPropertyAssignment(parent) && ts.isIdentifier(parent.name) && parent.name.text === "table"
      found.push(isTable ? `TABLE ${node.text}` : node.text)
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true))
  return found
}

// A list after FROM or USING names several tables.
const mention =
  /\b(?:FROM|INTO|UPDATE|JOIN|USING|TABLE|VACUUM|ANALYZE)\s+(?:ONLY\s+)?([a-z_]+(?:\s+AS\s+[a-z_]+)?(?:\s*,\s*[a-z_]+(?:\s+AS\s+[a-z_]+)?)*)/g

/** Returns the tables that the statements of a file name. */
const namedIn = (name: string, text: string): ReadonlySet<string> =>
  new Set(
    textsOf(name, text)
      .flatMap((literal) => Array.from(literal.matchAll(mention), ([, list]) => list!.split(/[\s,]+/)).flat())
      .filter((word) => tables.has(word))
  )

interface Mention {
  readonly file: string
  readonly table: string
}

const mentions: ReadonlyArray<Mention> = globSync("**/*.ts", {
  cwd: root,
  exclude: ["database/migrations/**"]
}).flatMap((file) => [...namedIn(file, readFileSync(join(root, file), "utf8"))].map((table) => ({ file, table })))

const isExcepted =
  ({ file, table }: Mention) =>
  ({ path, tables: excepted }: Exception) =>
    isIn(file, path) && excepted.includes(table)

/** Returns the mentions of a table outside of its folder, without those of an exception. */
const foreign = (of: ReadonlyArray<Mention>): ReadonlyArray<string> =>
  of
    .filter((mention) => !isIn(mention.file, owners[mention.table]!) && !exceptions.some(isExcepted(mention)))
    .map(({ file, table }) => `${file} names ${table}, which ${owners[table]} owns`)

describe("statements of the server", () => {
  it("name a table only in the folder that owns it", () => {
    assert.deepStrictEqual(foreign(mentions), [])
  })

  it("name every table of the migrations in the folder that owns it", () => {
    assert.sameMembers(Object.keys(owners), [...tables])
    const owned = mentions.filter(({ file, table }) => isIn(file, owners[table]!)).map(({ table }) => table)
    assert.sameMembers([...new Set(owned)], [...tables])
  })

  it("need each exception of the list", () => {
    const unused = exceptions.flatMap((exception) =>
      exception.tables
        .filter((table) => !mentions.some((mention) => mention.table === table && isExcepted(mention)(exception)))
        .map((table) => `${exception.path}: ${table}`)
    )
    assert.deepStrictEqual(unused, [])
  })

  it.each([
    ["a query", "sql`SELECT id FROM deliveries WHERE id = ${id}`", ["deliveries"]],
    ["an insert", "sql`INSERT INTO events (id) VALUES (${id})`", ["events"]],
    ["an update", "sql`UPDATE invoices SET due_at = ${now}`", ["invoices"]],
    ["a join", "sql`SELECT 1 FROM ${from} JOIN receipts ON true`", ["receipts"]],
    ["a list of tables", "sql`SELECT 1 FROM lane, invoices AS i, receipts WHERE true`", ["invoices", "receipts"]],
    ["a string", 'sql.unsafe("DELETE FROM sessions")', ["sessions"]],
    ["a place", '[{ table: "api_keys", column: "hash" }]', ["api_keys"]],
    ["no statement", "/** Deletes FROM events. */ const accounts = `from accounts`", []]
  ])("are read from %s", (_, text, expected) => {
    assert.sameMembers([...namedIn("a.ts", text)], expected)
  })

  it("are reported if they name a table outside of its folder", () => {
    const found = foreign([
      { file: "maintenance/Pruner.ts", table: "events" },
      { file: "webhooks/prune.sql.ts", table: "events" },
      { file: "invoices/InvoiceStats.ts", table: "organizations" }
    ])
    assert.deepStrictEqual(found, [
      "maintenance/Pruner.ts names events, which webhooks owns",
      "invoices/InvoiceStats.ts names organizations, which accounts owns"
    ])
  })
})
