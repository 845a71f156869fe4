/**
 * Generates `src/generated/receivers.ts` from the function of the guide about other languages. `--check` fails if it is not current.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const guide = readFileSync(join(import.meta.dirname, "../../docs/guides/webhooks-other-languages.md"), "utf8")
const python = /^```python\n([^]*?)^```$/m.exec(guide)![1]!

const files = {
  "receivers.ts": [
    "/**",
    " * Functions that verify webhooks, in other languages.",
    " *",
    " * Generated from docs/guides/webhooks-other-languages.md by `generate.ts`. Do not edit.",
    " */",
    "/** Verifies a webhook in Python. */",
    `export const python = String.raw\`${python}\``,
    ""
  ].join("\n")
}

if (import.meta.main) {
  for (const [name, text] of Object.entries(files)) {
    const file = join(import.meta.dirname, "src/generated", name)
    if (!process.argv.includes("--check")) writeFileSync(file, text)
    else if (readFileSync(file, "utf8") !== text) {
      console.error(`${name} is not current. Run \`node --conditions=source apps/console/generate.ts\`.`)
      process.exitCode = 1
    }
  }
}
