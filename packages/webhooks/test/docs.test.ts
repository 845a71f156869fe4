/**
 * Runs the examples of the doc comments, the README and the guides. A comment `// => value` after a statement is its expected
 * value. Examples get a secret in the environment, and a `request` if they do not define one.
 */
import { signedWebhook } from "@govoice/webhooks/testing"
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import ts from "typescript"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import { root } from "./support/built.ts"

const repository = join(root, "../..")
const scratch = join(root, "test/.doctest")
const secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw"

const files = [
  ...globSync("src/**/*.ts", { cwd: root }).map((file) => join(root, file)),
  join(root, "README.md"),
  join(repository, "docs/guides/webhooks.md"),
  join(repository, "docs/guides/webhooks-other-languages.md")
]

const examplesOf = (file: string): ReadonlyArray<string> => {
  const text = readFileSync(file, "utf8").replaceAll(/^ \* ?/gm, "")
  return Array.from(text.matchAll(/^```ts\b.*\n([^]*?)^```$/gm), ([, code]) => code!)
}

const examples = files.flatMap((file) =>
  examplesOf(file).map((code, index) => ({
    name: `${relative(repository, file)} ${index + 1}`,
    path: join(scratch, `${relative(repository, file).replaceAll(/\W+/g, "-")}-${index + 1}.ts`),
    code
  }))
)

/** Returns the example with an assertion for each expected value. */
const program = (code: string): string => {
  const source = ts.createSourceFile("example.ts", code, ts.ScriptTarget.Latest, true)
  const statements = source.statements.map((statement) => {
    const expected = /^\s*\/\/ => (.+)/.exec(code.slice(statement.end))?.[1]
    return expected !== undefined && ts.isExpressionStatement(statement)
      ? `assert.deepStrictEqual<unknown>(${statement.expression.getText()}, ${expected})`
      : statement.getText()
  })
  const declared = /\brequest\b/.test(code) && !/request\b.*(?:=>|\} =)/.test(code)
  return [
    'import { assert } from "vitest"',
    ...(declared ? ["declare const request: Request"] : []),
    ...statements,
    "export {}"
  ].join("\n")
}

beforeAll(() => {
  rmSync(scratch, { recursive: true, force: true })
  mkdirSync(scratch, { recursive: true })
  for (const { path, code } of examples) writeFileSync(path, program(code))
})
afterAll(() => rmSync(scratch, { recursive: true }))

describe("The examples of the README and the doc comments", () => {
  it("are more than 15", () => assert.isAbove(examples.length, 15))

  it("compile", () => {
    const options: ts.CompilerOptions = {
      target: ts.ScriptTarget.ES2023,
      lib: ["lib.es2024.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      customConditions: ["source"],
      types: ["node"],
      typeRoots: [join(repository, "node_modules/@types")],
      strict: true,
      exactOptionalPropertyTypes: true,
      noPropertyAccessFromIndexSignature: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      noEmit: true
    }
    const checked = ts.createProgram(
      examples.map(({ path }) => path),
      options
    )
    const complaints = ts.getPreEmitDiagnostics(checked).map(({ file, start, messageText }) => {
      const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : 0
      return `${file?.fileName}:${line} ${ts.flattenDiagnosticMessageText(messageText, "\n")}`
    })
    assert.deepStrictEqual(complaints, [])
  })

  // Lambda@Edge gives each header as a list, under its name in lowercase.
  const edge = (headers: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), [{ key, value }]]))
  const base64 = (text: string) => Buffer.from(text).toString("base64")

  it("verify what Lambda and Lambda@Edge pass to their functions", async () => {
    const load = async (text: string): Promise<Record<string, unknown>> =>
      (await import(examples.find(({ code }) => code.includes(text))!.path)) as Record<string, unknown>
    vi.stubEnv("WEBHOOK_SECRET", secret)
    const log = vi.spyOn(console, "log").mockReturnValue(undefined)
    try {
      const { body, event, headers } = signedWebhook({ secret, type: "invoice.accepted" })

      const { receive } = (await load("interface EdgeRequest")) as { receive: (request: unknown) => Promise<unknown> }
      for (const sent of [
        { encoding: "base64", data: base64(body) },
        { encoding: "text", data: body }
      ])
        assert.deepInclude(await receive({ headers: edge(headers), body: sent }), { event })
      const changed = { headers: edge(headers), body: { encoding: "base64", data: base64(`${body} `) } }
      const refusal: unknown = await receive(changed).catch((error: unknown) => error)
      assert.deepInclude(refusal, { code: "no_match" })

      const { handler } = (await load("interface LambdaRequest")) as { handler: (request: unknown) => Promise<unknown> }
      assert.deepStrictEqual(await handler({ headers, body: base64(body), isBase64Encoded: true }), { statusCode: 204 })
      assert.deepStrictEqual(await handler({ headers, body, isBase64Encoded: false }), { statusCode: 204 })
      assert.deepStrictEqual(log.mock.calls, [["invoice.accepted"], ["invoice.accepted"]])
      assert.deepStrictEqual(await handler({ headers, body: `${body} `, isBase64Encoded: false }), { statusCode: 400 })
    } finally {
      vi.unstubAllEnvs()
      vi.restoreAllMocks()
    }
  })

  it.each(examples)(
    "run without an error, and answer a webhook if they export a handler: $name",
    async ({ code, path }) => {
      vi.stubEnv("WEBHOOK_SECRET", secret)
      vi.stubEnv("NEW_SECRET", secret)
      vi.stubEnv("OLD_SECRET", secret)
      vi.stubGlobal("request", signedWebhook({ secret, type: "invoice.accepted" }).request)
      vi.spyOn(console, "log").mockReturnValue(undefined)
      try {
        const { POST, handler = POST } = (await import(path)) as Record<string, (request: Request) => Promise<Response>>
        if (handler !== undefined && code.includes("@govoice/webhooks/web")) {
          const { request } = signedWebhook({ secret, type: "invoice.accepted" })
          assert.strictEqual((await handler(request)).status, 204)
        }
      } finally {
        vi.unstubAllEnvs()
        vi.unstubAllGlobals()
        vi.restoreAllMocks()
      }
    }
  )
})
