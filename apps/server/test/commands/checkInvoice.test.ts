import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"

const root = join(import.meta.dirname, "../../../..")
const invoice = join(root, "examples/invoices/fa3-vat23.xml")
const folder = mkdtempSync(join(tmpdir(), "check-invoice-"))
afterAll(() => rmSync(folder, { recursive: true }))

const file = (name: string, content: string | Uint8Array): string => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const run = (
  args: ReadonlyArray<string>,
  stdin: string | Uint8Array = ""
): Promise<{ code: number; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    const command = [join(root, "apps/server/src/cli.ts"), "check-invoice", ...args]
    const child = execFile(process.execPath, ["--conditions=source", ...command], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
    )
    child.stdin?.end(stdin)
  })

describe("govoice check-invoice", () => {
  it("exits with 0 when every file is valid", async () => {
    const { code, stderr, stdout } = await run([invoice, invoice])
    assert.deepStrictEqual({ code, stderr }, { code: 0, stderr: "" })
    assert.strictEqual(stdout, `✔ ${invoice}  FA (3)\n`.repeat(2))
  })

  it("prints warnings apart from faults, and exits with 1 for them with --strict alone", async () => {
    const document = readFileSync(invoice, "utf8")
    const warned = file("warned.xml", document.replace("<JST>2", "<JST>1"))
    const warning =
      / {4}warning: line \d+, column \d+, Faktura\/Podmiot2\/JST: .* add a Podmiot3 with the Rola 8\. \(Broszura .*\)\n/
    const lenient = await run([warned])
    assert.deepStrictEqual({ code: lenient.code, stderr: lenient.stderr }, { code: 0, stderr: "" })
    assert.match(lenient.stdout, new RegExp(`^✔ .*warned\\.xml  FA \\(3\\)\n${warning.source}$`))
    const strict = await run(["--strict", warned, invoice])
    assert.deepStrictEqual(
      { code: strict.code, stderr: strict.stderr },
      { code: 1, stderr: "1 of 2 files with warnings.\n" }
    )

    const wrong = file("wrong.xml", document.replace("<JST>2", "<JST>1").replace(/<P_2>.*<\/P_2>/, ""))
    const { code, stdout } = await run([wrong])
    assert.strictEqual(code, 1)
    assert.match(stdout, new RegExp(`^✖ .*wrong\\.xml  FA \\(3\\)\n {4}line .*P_2.* is missing.*\n${warning.source}$`))
  })

  it("names each fault with line and column, and continues after an unreadable file", async () => {
    const malformed = file("malformed.xml", "<a>\n <b>\n</a>")
    const binary = file("binary.xml", Uint8Array.of(0xff, 0xfe, 0x00))
    const empty = file("empty.xml", " \n")
    const { code, stderr, stdout } = await run([malformed, join(folder, "none.xml"), binary, folder, empty, invoice])
    assert.strictEqual(code, 1)
    assert.strictEqual(stderr, "5 of 6 files are not valid.\n")
    assert.deepStrictEqual(stdout.replaceAll(folder, "").split("\n"), [
      "✖ /malformed.xml",
      "    line 3, column 4: is not well-formed: close tag </a> found, </b> expected; <b> begins at line 2, column 2.",
      "✖ /none.xml",
      "    The file does not exist. Correct its name.",
      "✖ /binary.xml",
      "    The file is not UTF-8. Save it in this encoding.",
      "✖ ",
      "    This is a directory. Name the files in it.",
      "✖ /empty.xml",
      "    line 1, column 1: is empty.",
      `✔ ${invoice}  FA (3)`,
      ""
    ])
  })

  it("reads no more of a large file than the limit, and keeps each file name on its line", async () => {
    const large = file("large\n✔ b.xml", "")
    truncateSync(large, 2 ** 32)
    const { stdout } = await run([large])
    assert.strictEqual(
      stdout.replaceAll(folder, ""),
      "✖ /large\\n✔ b.xml\n    line 1, column 1: is larger than 1,000,000 bytes.\n"
    )
  })

  it("reads standard input as it reads a file", async () => {
    const marked = await run(["-"], `\uFEFF${readFileSync(invoice, "utf8")}`)
    assert.include(marked.stdout, "the document begins with a byte order mark (U+FEFF); remove it.")
    assert.include((await run(["-"], Uint8Array.of(0xff, 0xfe))).stdout, "The file is not UTF-8.")
  })

  it("reads standard input, and prints JSON", async () => {
    const { code, stdout } = await run(["--json", "-"], "<Faktura/>")
    assert.strictEqual(code, 1)
    const { violations, ...rest } = JSON.parse(stdout) as { readonly violations: ReadonlyArray<{ message: string }> }
    assert.deepStrictEqual(rest, { file: "-", count: 1, warnings: [], valid: false })
    assert.include(violations[0]?.message, "the root element has no namespace")
  })

  it("ends as SIGPIPE would end it when its reader closes the pipe", async () => {
    const command = [
      join(root, "apps/server/src/cli.ts"),
      "check-invoice",
      ...Array.from({ length: 500 }, () => invoice)
    ]
    const child = spawn(process.execPath, ["--conditions=source", ...command])
    let errors = ""
    child.stderr.on("data", (chunk) => (errors += String(chunk)))
    child.stdout.once("data", () => child.stdout.destroy())
    assert.deepStrictEqual(await once(child, "close"), [141, null])
    assert.strictEqual(errors, "")
  })

  it("exits with 2 without a file", async () => {
    assert.strictEqual((await run([])).code, 2)
  })
})
