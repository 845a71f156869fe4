/**
 * Writes what the contract says about records into `src`: the types (`records.ts`), the checks of answers
 * (`internal/kinds.ts`) and the error codes (`errorCode.ts`). `Generated.test.ts` fails while they differ.
 *
 *     pnpm --filter @govoice/client generate
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { generated } from "./generated.ts"

for (const [file, text] of Object.entries(generated())) {
  writeFileSync(join(import.meta.dirname, "..", "..", "src", file), text)
}
