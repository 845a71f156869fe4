/** Checks that the generated modules are up to date. Update them with `pnpm --filter @govoice/client generate`. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { generated } from "./support/generated.ts"
import { write } from "./support/generate.ts"

const src = join(import.meta.dirname, "..", "src")
const folder = mkdtempSync(join(tmpdir(), "govoice-client-"))
const scratch = join(folder, "client", "src") // `webhooks` is written beside it.
afterAll(() => rmSync(folder, { recursive: true }))

describe("The generated modules", () => {
  write(scratch)

  it.each(Object.keys(generated()))("%s is up to date", (file) => {
    assert.strictEqual(readFileSync(join(src, file), "utf8"), readFileSync(join(scratch, file), "utf8"))
  })
})
