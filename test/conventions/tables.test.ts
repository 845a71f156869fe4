/**
 * Checks that each table of the database is named only in statements of the folder of the server that owns it, or of a file
 * with a written reason, and that statements name tables in words.
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
  national_environment: "invoices/ksef",
  national_lanes: "invoices/ksef",
  national_logins: "invoices/ksef",
  national_sessions: "invoices/ksef",
  national_submissions: "invoices/ksef",
  offline_certificates: "invoices/ksef",
  deliveries: "deliveries",
  events: "deliveries",
  organization_concurrency: "deliveries",
  webhook_endpoints: "deliveries",
  queue_gauges: "maintenance",
  cell_buckets: "cells",
  cell_taxpayers: "cells",
  cell_moves: "cells",
  cells: "cells"
}

interface Exception {
  /** A file, or a folder with its subfolders. */
  readonly path: string
  readonly tables: ReadonlyArray<string>
  readonly reason: string
}

const exceptions: ReadonlyArray<Exception> = [
  {
    path: "cells",
    tables: ["accounts", "organizations", "sessions"],
    reason: "Cells have these tables from the control cell, which publishes them, and wait for rows on their way."
  },
  {
    path: "cells/Move.ts",
    tables: [
      "deliveries",
      "events",
      "idempotency_records",
      "invoice_documents",
      "invoices",
      "national_lanes",
      "national_sessions",
      "national_submissions",
      "organization_concurrency",
      "receipts",
      "webhook_endpoints"
    ],
    reason: "An organization moves to another cell with all of its rows: cells/movedTables.ts has the list."
  },
  {
    path: "cells/moveState.ts",
    tables: ["api_keys", "offline_certificates", "webhook_endpoints"],
    reason: "Writes to an organization that has moved are refused where requests begin them."
  },
  {
    path: "mail/Notices.ts",
    tables: ["accounts", "organizations"],
    reason: "A notice names its organization, and its owner is taken by one process for a while."
  },
  {
    path: "database/Partitions.ts",
    tables: ["deliveries", "events"],
    reason:
      "The partitions are part of the schema: a process makes those of its week when it has migrated the database."
  },
  {
    path: "invoices/ksef",
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
    tables: ["national_logins", "offline_certificates", "organizations", "webhook_endpoints"],
    reason: "The rotation of keys re-encrypts the sealed columns of all tables by the same two statements."
  }
]

/** Files whose statements name a table by an expression, which this test cannot read. */
const unreadable: ReadonlyArray<Omit<Exception, "tables">> = [
  { path: "cells/Move.ts", reason: "Tables are replicated and deleted by the list of cells/movedTables.ts." },
  { path: "cells/moveState.ts", reason: "The statements of the fence are made for a list of tables." },
  { path: "database/Migrations.ts", reason: "The table of the migrations is a constant." },
  { path: "database/Partitions.ts", reason: "The partitions are named by their week." },
  {
    path: "invoices/ksef/LaneQueue.ts",
    reason: "One function makes the steps over an index of national_submissions and their names."
  },
  { path: "maintenance/KeyCheck.ts", reason: "The tables are those of SealedColumns.ts, which are read here." },
  { path: "mail/Notices.ts", reason: "The notices are the queries of deliveries and of live mode." },
  { path: "maintenance/rotateEncryption.ts", reason: "The tables are those of SealedColumns.ts, which are read here." }
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

/** The name of a tag, or of the object whose method is called, such as `sql` of `this.sql.unsafe`. */
const nameOf = (node: ts.Expression): string =>
  ts.isPropertyAccessExpression(node) ? node.name.text : ts.isIdentifier(node) ? node.text : ""

/** Whether a template or string is one of `sql`, or an argument of a method of it. */
const isOfSql = ({ parent }: ts.Node): boolean =>
  (ts.isTaggedTemplateExpression(parent) && nameOf(parent.tag) === "sql") ||
  (ts.isCallExpression(parent) &&
    ts.isPropertyAccessExpression(parent.expression) &&
    nameOf(parent.expression.expression) === "sql")

// Statements are also made from strings elsewhere. Sentences have other capitals.
const hasKeyword =
  /\b(?:FROM|INTO|UPDATE|JOIN|USING|TABLE|VACUUM|ANALYZE|TRUNCATE|LOCK|COPY)\s|^\s*(?:select|insert into|update|delete from|with|merge into|truncate|lock table|copy)\s/

const expression = "${}"

/** Returns the statements of a file and the parts of statements, without comments, with `${}` for each expression. */
const statementsOf = (name: string, text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const visit = (node: ts.Node): void => {
    if (ts.isTemplateExpression(node) || ts.isStringLiteralLike(node)) {
      const { parent } = node
      const statement = ts.isTemplateExpression(node)
        ? [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join(expression)
        : node.text
      // The places of sealed values name their table, and statements are made from them.
      const isTable = ts.isPropertyAssignment(parent) && ts.isIdentifier(parent.name) && parent.name.text === "table"
      if (isTable) found.push(`TABLE ${statement}`)
      else if (isOfSql(node) || hasKeyword.test(statement)) found.push(statement)
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true))
  return found
}

// A literal, a comment, a quoted name, an expression, a word, or punctuation.
const tokens = /'(?:[^']|'')*'|--.*|\/\*[^]*?\*\/|"(?<quoted>[^"]+)"|\$\{\}|[a-z_][\w$]*|[^\s\w]/gi

interface Token {
  readonly text: string
  readonly isQuoted: boolean
}

/** Returns the tokens of a statement. Words that are not quoted are in lower case, as the database reads them. */
const tokensOf = (statement: string): ReadonlyArray<Token> =>
  Array.from(statement.matchAll(tokens), ({ 0: text, groups }) => ({
    text: groups?.["quoted"] ?? text.toLowerCase(),
    isQuoted: groups?.["quoted"] !== undefined
  })).filter(({ isQuoted, text }) => isQuoted || !/^(?:'|--|\/\*)/.test(text))

/** Returns the tables that the statements of a file name, in any place but as an alias or a qualifier of a column. */
const namedIn = (name: string, text: string): ReadonlySet<string> => {
  const named = statementsOf(name, text).flatMap((statement) => {
    const all = tokensOf(statement)
    const textAt = (index: number) => all[index]?.text
    return all
      .filter((token, index) => {
        const isMember = textAt(index - 1) === "." && textAt(index - 2) !== "public"
        return tables.has(token.text) && !isMember && textAt(index - 1) !== "as" && textAt(index + 1) !== "."
      })
      .map((token) => token.text)
  })
  return new Set(named)
}

const beforeTables: ReadonlySet<string> = new Set(["from", "into", "join", "table", "update", "using"])
const afterTables =
  /^(?:except|group|having|intersect|limit|offset|order|returning|select|set|union|values|where|window)$/

/** Returns whether a statement has an expression in the place of a table: after a keyword, or in a list of tables. */
const hasUnreadableTable = (statement: string): boolean => {
  // A string that ends with a keyword is continued by an expression.
  const words = [...tokensOf(statement).map(({ isQuoted, text }) => (isQuoted ? "" : text)), expression].filter(
    (word) => word !== "only"
  )
  const opensList = (index: number) =>
    beforeTables.has(words[index] ?? "") &&
    // IS DISTINCT FROM, FOR UPDATE, FOR NO KEY UPDATE.
    !["distinct", "for", "key"].includes(words[index - 1] ?? "")
  // Whether a list of tables is open, for each level of parentheses.
  const isInList = [false]
  return words.some((word, index) => {
    if (word === "(") isInList.push(false)
    else if (word === ")") isInList.pop()
    else if (opensList(index)) isInList.splice(-1, 1, true)
    else if (afterTables.test(word)) isInList.splice(-1, 1, false)
    const isPlace = opensList(index - 1) || (words[index - 1] === "," && isInList.at(-1) === true)
    return word === expression && isPlace
  })
}

interface Mention {
  readonly file: string
  readonly table: string
}

const files = globSync("**/*.ts", { cwd: root, exclude: ["database/migrations/**"] }).map(
  (file) => [file, readFileSync(join(root, file), "utf8")] as const
)

const mentions: ReadonlyArray<Mention> = files.flatMap(([file, text]) =>
  [...namedIn(file, text)].map((table) => ({ file, table }))
)

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

  it("name a table in words, but in files with a written reason", () => {
    const found = files
      .filter(([file, text]) => statementsOf(file, text).some(hasUnreadableTable))
      .map(([file]) => file)
    assert.sameMembers(
      found,
      unreadable.map(({ path }) => path)
    )
  })

  it.each([
    ["a query", "sql`SELECT id FROM deliveries WHERE id = ${id}`", ["deliveries"]],
    ["an insert", "sql`INSERT INTO events (id) VALUES (${id})`", ["events"]],
    ["an update", "sql`UPDATE invoices SET due_at = ${now}`", ["invoices"]],
    ["a join", "sql`SELECT 1 FROM ${from} JOIN receipts ON true`", ["receipts"]],
    ["a list of tables", "sql`SELECT 1 FROM lane, invoices AS i, receipts WHERE true`", ["invoices", "receipts"]],
    ["a string", 'sql.unsafe("DELETE FROM sessions")', ["sessions"]],
    [
      "an alias without AS",
      "sql`SELECT 1 FROM lane l, invoices i, LATERAL (SELECT 1) s, events e`",
      ["invoices", "events"]
    ],
    ["a list after a query", "sql`SELECT 1 FROM (SELECT 1) AS one, unnest(${ids}) AS id, receipts`", ["receipts"]],
    ["quoted names", 'sql`SELECT 1 FROM "deliveries" JOIN public."events" AS e ON true`', ["deliveries", "events"]],
    ["a name with its schema", "sql`DELETE FROM ONLY public.sessions`", ["sessions"]],
    ["keywords in lower case", "sql`select 1 from accounts a join Api_Keys on true`", ["accounts", "api_keys"]],
    ["a string in lower case", 'const text = "delete from refresh_tokens"', ["refresh_tokens"]],
    ["a method of a client", "this.sql.unsafe(`from ${name}, receipts`)", ["receipts"]],
    [
      "lists of other statements",
      "sql`TRUNCATE events, deliveries`; sql`LOCK TABLE invoices`",
      ["events", "deliveries", "invoices"]
    ],
    ["a name after a comment", "sql`SELECT 1 -- FROM receipts, it's\nFROM /* accounts */ events`", ["events"]],
    ["an alias, a qualifier and a literal", "sql`SELECT receipts.id, 'x from events' FROM lane AS receipts`", []],
    ["a place", '[{ table: "api_keys", column: "hash" }]', ["api_keys"]],
    ["no statement", "/** Deletes FROM events. */ const accounts = `from accounts`", []]
  ])("are read from %s", (_, text, expected) => {
    assert.sameMembers([...namedIn("a.ts", text)], expected)
  })

  it.each([
    ["after FROM", "sql`SELECT 1 FROM ${name}`", true],
    ["after INTO", "sql`INSERT INTO ${sql(name)} (id) VALUES (1)`", true],
    ["after UPDATE", "sql`UPDATE ONLY ${name} SET id = 1`", true],
    ["after JOIN", "sql`select 1 from lane join ${name} on true`", true],
    ["after USING", "sql`DELETE FROM events USING ${name}`", true],
    ["in a list", "sql`SELECT 1 FROM lane AS l, unnest(${ids}) AS id, ${name} WHERE true`", true],
    ["after a string", 'const text = "DELETE FROM " + name', true],
    [
      "of a query",
      "sql`SELECT ${a}, ${b} FROM (${query}) AS q, unnest(${c}, ${d}) AS e WHERE f IN (${g}, ${h})`",
      false
    ],
    ["of a lock", "sql`SELECT 1 FROM lane WHERE id = ${id} FOR NO KEY UPDATE ${wait}`", false],
    ["of a comparison", "sql`UPDATE lane SET a = 1, b = ${b} WHERE c IS DISTINCT FROM ${c} ORDER BY d, ${e}`", false]
  ])("are refused with an expression for a table: %s", (_, text, expected) => {
    assert.strictEqual(statementsOf("a.ts", text).some(hasUnreadableTable), expected)
  })

  it("are reported if they name a table outside of its folder", () => {
    const found = foreign([
      { file: "maintenance/Pruner.ts", table: "events" },
      { file: "deliveries/prune.sql.ts", table: "events" },
      { file: "invoices/InvoiceStats.ts", table: "organizations" }
    ])
    assert.deepStrictEqual(found, [
      "maintenance/Pruner.ts names events, which deliveries owns",
      "invoices/InvoiceStats.ts names organizations, which accounts owns"
    ])
  })
})
