/**
 * Runs the programs of the guide about other languages as they are shown: each submits an invoice, waits and downloads the receipt.
 */
import { signedWebhook } from "@govoice/webhooks/testing"
import { execFile, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { makeCall, readAgreement, signUp } from "./support/client.ts"
import { type Server, startServer } from "./support/server.ts"

const page = readFileSync(resolve(import.meta.dirname, "../../docs/guides/other-languages.md"), "utf8")
const blocksOf = (fence: string) =>
  Array.from(page.matchAll(new RegExp(`^\`\`\`${fence}\\n([^]*?)^\`\`\`$`, "gm")), ([, code]) => code!)

const has = (command: string, ...args: ReadonlyArray<string>) => spawnSync(command, args).status === 0
const jackson = "/usr/share/java/jackson-databind.jar"

interface Language {
  readonly name: string
  readonly installed: boolean
  readonly file: string
  readonly text: string
  readonly command: readonly [string, ...Array<string>]
}

const [preparation, curl, verify] = blocksOf("sh")
const languages: ReadonlyArray<Language> = [
  {
    name: "curl",
    installed: has("curl", "--version") && has("jq", "--version") && has("bash", "--version"),
    file: "submit.sh",
    text: curl!,
    command: ["bash", "-euo", "pipefail", "submit.sh"]
  },
  ...["python3", "pypy3"].map((python) => ({
    name: python,
    installed: has(python, "-c", "import sys; assert sys.version_info >= (3, 9)"),
    file: "submit.py",
    text: blocksOf("python")[0]!,
    command: [python, "submit.py"] as const
  })),
  {
    name: "PHP",
    installed: has("php", "--version"),
    file: "submit.php",
    text: `<?php\n${blocksOf("php")[0]}`,
    command: ["php", "submit.php"]
  },
  {
    name: "Java",
    installed: has("java", "--version") && existsSync(jackson),
    file: "Submission.java",
    text: blocksOf("java")[0]!,
    command: ["java", "-cp", "/usr/share/java/*", "Submission.java"]
  }
]

describe("The programs in other languages", () => {
  let server: Server
  let key: string
  beforeAll(async () => {
    server = await startServer({ GOVOICE_DATA_DIR: "memory", GOVOICE_SANDBOX_STEP_MS: "100" })
    key = (await signUp(makeCall(() => server.url, await readAgreement(server.url)))).testKey
  })
  afterAll(() => server?.stop())

  it.each(languages)("$name: submits, waits and downloads the receipt", async ({ command, file, installed, text }) => {
    if (!installed) return console.warn(`${command[0]} is not installed: its program was not run`)
    const folder = mkdtempSync(join(tmpdir(), "govoice-languages-"))
    try {
      writeFileSync(join(folder, "invoice.xml"), /^echo '(.*)' > invoice.xml$/m.exec(preparation!)![1]!)
      writeFileSync(join(folder, file), text)
      const [program, ...args] = command
      const { stdout } = await promisify(execFile)(program, args, {
        cwd: folder,
        env: { PATH: process.env["PATH"], HOME: process.env["HOME"], GOVOICE_URL: server.url, GOVOICE_API_KEY: key }
      })
      assert.match(stdout, /^accepted \d{10}-\d{8}-[\dA-F]{12}-[\dA-F]{2}\n$/)
      assert.include(readFileSync(join(folder, "upo.xml"), "utf8"), "<Potwierdzenie")
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it("curl: verifies a webhook, and refuses one that is changed or old", async () => {
    if (!has("openssl", "version")) return console.warn("openssl is not installed: the function was not run")
    const secret = "whsec_kfUZ5zdM0s0m5sLzu0Md5ZZ3g1vSyrIhrVOTm0VbTPw"
    const folder = mkdtempSync(join(tmpdir(), "govoice-languages-"))
    const verifies = ({ body, headers }: { readonly body: string; readonly headers: Record<string, string> }) => {
      writeFileSync(join(folder, "body"), body)
      const script = `${verify}\nverify body "$1" "$2"`
      const args = ["-c", script, "verify", headers["Gov-Timestamp"]!, headers["Gov-Signature"]!]
      return spawnSync("bash", args, { cwd: folder, env: { PATH: process.env["PATH"], WEBHOOK_SECRET: secret } }).status
    }
    try {
      const webhook = signedWebhook({ secret, type: "invoice.accepted" })
      assert.strictEqual(verifies(webhook), 0)
      assert.notStrictEqual(verifies({ ...webhook, body: `${webhook.body} ` }), 0)
      assert.notStrictEqual(verifies(signedWebhook({ secret, type: "invoice.accepted", now: Date.now() - 600_000 })), 0)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
