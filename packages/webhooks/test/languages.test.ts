/**
 * Runs the functions of the guide for other languages on all vectors. Languages that are not installed are skipped, and named.
 */
import vectors from "@govoice/webhooks/vectors.json" with { type: "json" }
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { languages } from "./support/languages.ts"
import type { Vector } from "./support/vectors.ts"

const guide = readFileSync(join(import.meta.dirname, "../../../docs/guides/webhooks-other-languages.md"), "utf8")

// TypeScript infers another type for each vector of the file.
const all = vectors as unknown as ReadonlyArray<Vector>

const base64 = (text: string) => Buffer.from(text).toString("base64")

const line = ({ secrets, headers, body, bodyBase64, now, toleranceSeconds = 300 }: Vector) =>
  [
    secrets.map(base64).join(),
    Object.entries(headers)
      .flatMap(([name, value]) => [value].flat().map((one) => `${base64(name)}:${base64(one)}`))
      .join(),
    bodyBase64 ?? base64(body!),
    now,
    toleranceSeconds
  ].join("\t")

describe.each(languages)("The verification function for $name in the guide", ({ name, fence, installed, how, run }) => {
  const isInstalled = installed()
  if (!isInstalled) console.warn(`${name} is not installed and was skipped. To install it: ${how}`)

  it.skipIf(!isInstalled)("returns the expected result of every vector", () => {
    const code = new RegExp(`^\`\`\`${fence}\\n([^]*?)^\`\`\`$`, "m").exec(guide)![1]!
    const folder = mkdtempSync(join(tmpdir(), "govoice-language-"))
    try {
      const answers = run(code, `${all.map(line).join("\n")}\n`, folder)
        .trim()
        .split(/\r?\n/)
      const disagreements = all.filter(({ expect }, index) => answers[index] !== String(expect === "ok"))
      assert.deepStrictEqual(
        disagreements.map(({ name }) => name),
        []
      )
      assert.strictEqual(answers.length, all.length)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
