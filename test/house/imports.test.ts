/**
 * Imports point one way. This reads every module of the packages and of the server, and holds them to the table of the
 * house: what each may import of the others, and of npm.
 */
import { globSync, readFileSync } from "node:fs"
import { builtinModules } from "node:module"
import { dirname, join, relative, resolve } from "node:path"
import ts from "typescript"
import { assert, describe, it } from "vitest"

const root = resolve(import.meta.dirname, "../..")

interface Room {
  readonly folder: string
  /** Packages that published code may import. */
  readonly may: ReadonlyArray<string>
  /** Modules of Node that it may import. */
  readonly node?: ReadonlyArray<string> | "any"
}

const rooms: ReadonlyArray<Room> = [
  { folder: "packages/core", may: ["effect"] },
  { folder: "packages/api", may: ["effect", "@govoice/core"] },
  { folder: "packages/webhooks", may: [] },
  { folder: "packages/dispatcher", may: ["effect", "undici"], node: "any" },
  { folder: "packages/client", may: [] },
  {
    folder: "apps/server",
    may: [
      "effect",
      "@effect/platform-node",
      "@effect/sql-pg",
      "@electric-sql/pglite",
      "@govoice/api",
      "@govoice/core",
      "@govoice/dispatcher",
      "@govoice/webhooks",
      "@node-rs/argon2",
      "jose",
      "saxes"
    ],
    node: "any"
  }
]

// Entries that may import more than the rest of their package.
const exceptions: Readonly<Record<string, ReadonlyArray<string>>> = {
  "packages/webhooks/src/effect.ts": ["effect"],
  "packages/client/src/effect.ts": ["effect"],
  "packages/client/src/internal/lift.ts": ["effect"]
}

interface Import {
  readonly specifier: string
  readonly typeOnly: boolean
}

const importsOf = (file: string): ReadonlyArray<Import> => {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true)
  const found: Array<Import> = []
  const visit = (node: ts.Node): void => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined) {
      const typeOnly = ts.isImportDeclaration(node)
        ? node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
        : node.isTypeOnly
      found.push({ specifier: (node.moduleSpecifier as ts.StringLiteral).text, typeOnly })
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [argument] = node.arguments
      if (argument !== undefined && ts.isStringLiteral(argument))
        found.push({ specifier: argument.text, typeOnly: false })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/")

const isBuiltin = (specifier: string): boolean => specifier.startsWith("node:") || builtinModules.includes(specifier)

const sources = ({ folder }: Room): ReadonlyArray<string> =>
  globSync("src/**/*.ts", { cwd: join(root, folder) }).map((file) => join(folder, file))

const faults = (room: Room): ReadonlyArray<string> =>
  sources(room).flatMap((file) =>
    importsOf(join(root, file)).flatMap(({ specifier }) => {
      const fault = (why: string) => [`${file} imports ${specifier}: ${why}`]
      if (specifier.startsWith(".")) {
        const target = relative(join(root, room.folder), resolve(root, dirname(file), specifier))
        return target.startsWith("src") || target === "package.json" ? [] : fault("it leaves its package")
      }
      if (isBuiltin(specifier)) {
        if (!specifier.startsWith("node:")) return fault("a module of Node is named node:…")
        return room.node === "any" || room.node?.includes(specifier) ? [] : fault("it may not use this module of Node")
      }
      const name = packageOf(specifier)
      if (![...room.may, ...(exceptions[file] ?? [])].includes(name)) return fault("the house does not allow it")
      return room.folder.startsWith("packages/") && specifier === "effect"
        ? fault("import effect/Effect and the like")
        : []
    })
  )

describe("the house", () => {
  it.each(rooms)("$folder imports only what it may", (room) => {
    assert.deepStrictEqual(faults(room), [])
  })

  it("has a rule for every package and app", () => {
    assert.sameMembers(
      globSync("{packages,apps}/*", { cwd: root }),
      rooms.map(({ folder }) => folder)
    )
  })

  it("sees what it is there to see", () => {
    const seen = new Set(
      rooms.flatMap((room) =>
        sources(room).flatMap((file) => importsOf(join(root, file)).map(({ specifier }) => packageOf(specifier)))
      )
    )
    for (const name of ["effect", "undici", "@govoice/core", "@effect/sql-pg"]) assert.include([...seen], name)
  })
})
