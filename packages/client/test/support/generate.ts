/**
 * Writes the modules of `src` that are generated from the contract: the types (`records.ts`), the schemas of responses
 * (`internal/schemas.ts`) and the error codes (`errorCode.ts`); and the samples of `@govoice/webhooks`. `Generated.test.ts` fails if they are out of date.
 *
 *     pnpm --filter @govoice/client generate
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { generated } from "./generated.ts"

const root = join(import.meta.dirname, "../../../..")

/** Writes the formatted modules into a folder. */
export const write = (folder: string): void => {
  const files = Object.entries(generated()).map(([file, text]) => {
    const path = join(folder, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    return path
  })
  const oxfmt = join(root, "node_modules/oxfmt/bin/oxfmt")
  execFileSync(process.execPath, [oxfmt, "--config", join(root, ".oxfmtrc.json"), ...files], { stdio: "ignore" })
}

if (import.meta.main) write(join(import.meta.dirname, "../../src"))
