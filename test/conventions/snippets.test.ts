/**
 * Compiles every TypeScript block of READMEs, guides and doc comments. Runs the blocks of doc comments that are fenced with
 * `ts import.meta.vitest`; a statement that ends with `// => value` must evaluate to that value.
 */
import { globSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { compile, docFences, type Fence, fences, makeScratch, read, withAssertions } from "../support/snippets.ts"

const cwd = join(import.meta.dirname, "..", "..")
const pages = read(
  globSync(["README.md", "docs/contents/Home.md", "docs/guides/*.md", "{packages,apps,examples}/*/README.md"], {
    cwd
  }).sort(),
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
  })

  it.each(compiled.map((block) => [where(block), block] as const))("%s compiles", (_, block) => {
    assert.deepStrictEqual(faults.get(block), [])
  })

  it.each(executed.map((block) => [where(block), block] as const))("%s runs", async (_, block) => {
    const path = scratch.path(`example-${executed.indexOf(block)}.ts`)
    writeFileSync(path, withAssertions(block.code))
    await import(path)
  })

  // A block with another language name would not be compiled.
  it("uses `ts` as the only language name of TypeScript and JavaScript", () => {
    const escaped = [...pages, ...comments].filter(
      ({ info, language }) =>
        /^(?:typescript|javascript|[jt]sx|[cm]?js|[cm]ts)$/i.test(language) ||
        (language === "ts" && !["", "import.meta.vitest"].includes(info))
    )
    assert.deepStrictEqual(escaped.map(where), [])
  })

  it("ends what curl prints with the end of a line, where the prompt of the reader's shell would follow it", () => {
    const shown = pages
      .filter(({ language }) => language === "sh")
      .flatMap((block) =>
        block.code
          .replaceAll("\\\n", " ")
          .split("\n")
          .filter((line) => line.startsWith("curl ") && !/ -o | \| | > /.test(line))
          .map((line) => `${where(block)}: ${line}`)
      )
    assert.isAbove(shown.length, 10)
    assert.deepStrictEqual(
      shown.filter((line) => !/ -\w*w '\\n' /.test(line)),
      []
    )
  })

  it("has nothing to run behind a server in the foreground, which does not return", () => {
    const isServer = /(?:npx -y @govoice\/server|\bgovoice) (?:serve|dev)$/
    const blocked = pages
      .filter(({ language }) => language === "sh")
      .filter(({ code }) =>
        code
          .trimEnd()
          .split("\n")
          .slice(0, -1)
          .some((line) => isServer.test(line))
      )
    assert.deepStrictEqual(blocked.map(where), [])
  })

  it("finds the examples of the domain", () => {
    assert.includeMembers(
      executed.map(({ file }) => file),
      ["packages/core/src/Ids.ts", "packages/core/src/InvoiceState.ts", "packages/dispatcher/src/Backoff.ts"]
    )
  })
})

describe("compile", () => {
  let faults: ReadonlyArray<ReadonlyArray<string>>
  beforeAll(() => {
    faults = [...compile(scratch, planted).values()]
  })

  it("reports the line of a type error", () => {
    assert.deepStrictEqual(faults[0], ['planted.md:13: Type \'"demo"\' is not assignable to type \'"test" | "live"\'.'])
  })

  it("reports missing modules, missing names and private modules", () => {
    assert.match(faults[1]!.join(), /^planted\.md:11: Cannot find module '@govoice\/nothing'/)
    assert.match(faults[2]!.join(), /^planted\.md:11: .*has no exported member 'nothing'/)
    assert.match(faults[3]!.join(), /^planted\.md:11: Cannot find module '@govoice\/core\/src\/Ids\.ts'/)
  })

  it("reports syntax errors", () => {
    assert.match(faults[4]!.join(), /^planted\.md:11: Variable declaration expected/)
  })

  it("accepts correct code with an unused value", () => {
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

  it("rejects an unclosed block", () => {
    assert.throws(() => fences("a.md", "a\n\n```ts\nb"), "a.md:3: the block is never closed")
  })

  it("finds the blocks of indented doc comments", () => {
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
    assert.match(outcome, /Expected values to be strictly deep-equal:\s+2 !== 3/)
  })

  it("rejects an expected value after a statement that is not an expression", () => {
    assert.throws(() => withAssertions("const a = 1 // => 1"), "Only an expression can be followed by // => value")
  })
})
