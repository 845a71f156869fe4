/**
 * Runs the functions of the guide for other languages on the vectors. Languages that are not installed are skipped.
 */
import vectors from "@govoice/webhooks/vectors.json" with { type: "json" }
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { languages } from "./support/languages.ts"
import type { Vector } from "./support/vectors.ts"

const guide = readFileSync(join(import.meta.dirname, "../../../docs/guides/webhooks-other-languages.md"), "utf8")

/** The vectors about signatures and timestamps. The functions of the guide check nothing else. */
const judged = (vectors as unknown as ReadonlyArray<Vector>).filter(
  ({ expect, headers }) =>
    !["bad_secret", "duplicate_header"].includes(expect) &&
    Object.values(headers).every((value) => typeof value === "string")
)

const fits = ({ name, expect }: Vector) =>
  ["ok", "id_mismatch", "body_not_json"].includes(expect) || /^(?:missing|empty) Gov-Event-Id$/.test(name)

const base64 = (text: string | Uint8Array) => Buffer.from(text).toString("base64")

const line = ({ secrets, headers, body, bodyBase64, now, toleranceSeconds = 300 }: Vector) => {
  const header = (name: string) =>
    (Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1] as string | undefined) ?? ""
  return [
    base64(secrets.join("\n")),
    base64(header("gov-timestamp")),
    base64(header("gov-signature")),
    bodyBase64 ?? base64(body!),
    now,
    toleranceSeconds
  ].join("\t")
}

describe.each(languages)("The function in $name", ({ name, fence, installed, how, run }) => {
  if (!installed()) console.warn(`${name} is not installed and was skipped. To install it: ${how}`)

  it.skipIf(!installed())("agrees with every vector", { timeout: 120_000 }, () => {
    const code = new RegExp(`^\`\`\`${fence}\\n([^]*?)^\`\`\`$`, "m").exec(guide)![1]!
    const folder = mkdtempSync(join(tmpdir(), "govoice-language-"))
    try {
      const answers = run(code, `${judged.map(line).join("\n")}\n`, folder)
        .trim()
        .split(/\r?\n/)
      const disagreements = judged.filter((vector, index) => answers[index] !== String(fits(vector)))
      assert.deepStrictEqual(
        disagreements.map(({ name }) => name),
        []
      )
      assert.strictEqual(answers.length, judged.length)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
