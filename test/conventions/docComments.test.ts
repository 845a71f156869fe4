/**
 * Every export of the packages for integrators and receivers has a doc comment that begins with a sentence and has a category
 * and a version. `packages/core/test/index.test.ts` checks the same for the domain.
 */
import { readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import ts from "typescript"
import { assert, describe, it } from "vitest"

const root = resolve(import.meta.dirname, "../..")

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly source: string }>>
}

const entriesOf = (folder: string): ReadonlyArray<string> => {
  const { exports } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest
  return Object.values(exports).flatMap((entry) => (typeof entry === "string" ? [] : join(root, folder, entry.source)))
}

/** Returns the exports of the entries whose doc comment is incomplete. */
const incomplete = (entries: ReadonlyArray<string>): ReadonlyArray<string> => {
  const program = ts.createProgram([...entries], {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    customConditions: ["source"],
    allowImportingTsExtensions: true,
    noEmit: true,
    types: []
  })
  const checker = program.getTypeChecker()
  const exports = entries.flatMap((entry) =>
    checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(entry)!)!)
  )
  assert.isNotEmpty(exports)
  return exports.flatMap((exported) => {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
    const text = ts.displayPartsToString(symbol.getDocumentationComment(checker))
    const tags = symbol.getJsDocTags(checker).map(({ name }) => name)
    return /^[A-Z`]/.test(text) && tags.includes("category") && tags.includes("since") ? [] : [exported.name]
  })
}

describe("Doc comments", () => {
  it.each(["packages/client", "packages/webhooks"])(
    "of %s have a sentence, a category and a version for each export",
    { timeout: 180_000 },
    (folder) => {
      assert.deepStrictEqual(incomplete(entriesOf(folder)), [])
    }
  )
})
