/**
 * Generates the file from which the server serves the pages of `docs/errors` at `/docs/errors/{code}`.
 *
 *     node --conditions=source docs/errorPages.ts            updates the file
 *     node --conditions=source docs/errorPages.ts --check    fails if the file is not current
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { ErrorCatalog } from "../packages/core/src/index.ts"
import { keepCurrent } from "./writtenFile.ts"

/** Path of the file. */
export const path = join(import.meta.dirname, "../apps/server/src/http/handlers/errorPages.json")

const read = (code: ErrorCatalog.ErrorCode): string =>
  readFileSync(join(import.meta.dirname, `errors/${code}.md`), "utf8")
    .replaceAll(/^<!--.*-->\n/gm, "")
    .replaceAll(/\n{3,}/g, "\n\n")

/** Returns the contents of the file: the pages by code. */
export const file = (): string =>
  `${JSON.stringify(Object.fromEntries(ErrorCatalog.codes.map((code) => [code, read(code)])), null, 2)}\n`

if (import.meta.main) keepCurrent(path, file(), "docs/errorPages.ts")
