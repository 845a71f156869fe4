/**
 * Documentation compiles: every TypeScript block of the README, of the guides, of the packages' READMEs and of doc
 * comments. An example in a doc comment that is fenced with `ts import.meta.vitest` runs, too, and a statement of it that
 * ends in `// => value` has to evaluate to that value.
 */
import { globSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { compile, docFences, type Fence, fences, makeScratch, read, withAssertions } from "../support/snippets.ts"

const cwd = join(import.meta.dirname, "..", "..")
const pages = read(
  globSync(["README.md", "docs/guides/*.md", "{packages,apps,examples}/*/README.md"], { cwd }).sort(),
  fences
)
const comments = read(globSync("packages/*/src/**/*.ts", { cwd }).sort(), docFences)

const where = (block: Fence): string => `${block.file}:${block.line}`
const isTypeScript = ({ language }: Fence): boolean => language === "ts"
const compiled = [...pages, ...comments].filter(isTypeScript)
const executed = comments.filter(({ info, language }) => language === "ts" && info === "import.meta.vitest")

const planted: ReadonlyArray<Fence> = [
  'import { Mode } from "@govoice/core"\n\nconst mode: Mode.Mode = "demo"',
  'import { nothing } from "@govoice/nothing"',
  'import { nothing } from "@govoice/core"',
  'import { hidden } from "@govoice/core/src/Ids.ts"',
  "const = 1",
  'import { Ids } from "@govoice/core"\nimport * as Effect from "effect/Effect"\n\nconst unused = Effect.succeed(Ids.randomLength)'
].map((code) => ({ file: "planted.md", line: 10, language: "ts", info: "", code }))

const scratch = makeScratch("snippets")
afterAll(() => scratch.remove())

describe("documentation", () => {
  let faults: ReadonlyMap<Fence, ReadonlyArray<string>>
  beforeAll(() => {
    faults = compile(scratch, [...compiled, ...planted])
  }, 120_000)

  it.each(compiled.map((block) => [where(block), block] as const))("%s compiles", (_, block) => {
    assert.deepStrictEqual(faults.get(block), [])
  })

  it.each(executed.map((block) => [where(block), block] as const))("%s does what it says", async (_, block) => {
    const path = scratch.path(`example-${executed.indexOf(block)}.ts`)
    writeFileSync(path, withAssertions(block.code))
    await import(path)
  })

  // Under another name, or with a word after it, a block would escape the compiler.
  it("calls TypeScript and JavaScript `ts`, and nothing else", () => {
    const escaped = [...pages, ...comments].filter(
      ({ info, language }) =>
        /^(?:typescript|javascript|[jt]sx|[cm]?js|[cm]ts)$/i.test(language) ||
        (language === "ts" && !["", "import.meta.vitest"].includes(info))
    )
    assert.deepStrictEqual(escaped.map(where), [])
  })

  it("finds the examples of the domain", () => {
    assert.includeMembers(
      executed.map(({ file }) => file),
      ["packages/core/src/Ids.ts", "packages/core/src/InvoiceState.ts", "packages/core/src/RetrySchedule.ts"]
    )
  })
})

describe("compile", () => {
  let faults: ReadonlyArray<ReadonlyArray<string>>
  beforeAll(() => {
    faults = [...compile(scratch, planted).values()]
  }, 120_000)

  it("names the line of a type that does not fit", () => {
    assert.deepStrictEqual(faults[0], ['planted.md:13: Type \'"demo"\' is not assignable to type \'"test" | "live"\'.'])
  })

  it("finds modules and names that there are not, and modules that are private", () => {
    assert.match(faults[1]!.join(), /^planted\.md:11: Cannot find module '@govoice\/nothing'/)
    assert.match(faults[2]!.join(), /^planted\.md:11: .*has no exported member 'nothing'/)
    assert.match(faults[3]!.join(), /^planted\.md:11: Cannot find module '@govoice\/core\/src\/Ids\.ts'/)
  })

  it("finds what is no TypeScript", () => {
    assert.match(faults[4]!.join(), /^planted\.md:11: Variable declaration expected/)
  })

  it("takes what is right, also when it leaves a value unused", () => {
    assert.deepStrictEqual(faults[5], [])
  })
})

describe("fences", () => {
  it("finds blocks with their lines, also in lists and inside longer fences", () => {
    const page = [
      "# a",
      "",
      "```ts",
      "one",
      "```",
      "- b",
      "  ~~~sh x",
      "  two",
      "   three",
      "  ~~~",
      "````md",
      "```ts",
      "```",
      "````"
    ]
    assert.deepStrictEqual(fences("a.md", page.join("\n")), [
      { file: "a.md", line: 3, language: "ts", info: "", code: "one" },
      { file: "a.md", line: 7, language: "sh", info: "x", code: "two\n three" },
      { file: "a.md", line: 11, language: "md", info: "", code: "```ts\n```" }
    ])
  })

  it("refuses a block that is never closed", () => {
    assert.throws(() => fences("a.md", "a\n\n```ts\nb"), "a.md:3: the block is never closed")
  })

  it("finds the blocks of doc comments, however far they are indented", () => {
    const source = [
      "const a = `",
      "```ts",
      "`",
      "/**",
      " * ```ts import.meta.vitest",
      " * one",
      " *",
      " *   two",
      " * ```",
      " */",
      "class A {",
      "  /**",
      "   * ```ts",
      "   * three",
      "   * ```",
      "   */",
      "}"
    ]
    assert.deepStrictEqual(docFences("a.ts", source.join("\n")), [
      { file: "a.ts", line: 5, language: "ts", info: "import.meta.vitest", code: "one\n\n  two" },
      { file: "a.ts", line: 13, language: "ts", info: "", code: "three" }
    ])
  })
})

describe("withAssertions", () => {
  const run = async (name: string, code: string): Promise<void> => {
    const path = scratch.path(`${name}.ts`)
    writeFileSync(path, withAssertions(code))
    await import(path)
  }

  it("passes when the value is right", async () => {
    await run("right", "const a = 1\na + 1 // => 2\nArray.of(a)\n// => [1]\nawait Promise.resolve(a) // => 1")
  })

  it("fails when the value is wrong", async () => {
    const outcome = await run("wrong", "const a = 1\na + 1 // => 3").then(
      () => "passed",
      (error: unknown) => String(error)
    )
    assert.include(outcome, "expected 2 to deeply equal 3")
  })

  it("refuses a value that nothing would be compared with", () => {
    assert.throws(() => withAssertions("const a = 1 // => 1"), "Only an expression can be followed by // => value")
  })
})
