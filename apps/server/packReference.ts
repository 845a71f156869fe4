/** Writes the compressed texts of the API reference into a folder of the bundle, whose folder is the argument. */
import { Effect } from "effect"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import * as Reference from "./src/http/handlers/Reference.ts"
import * as Precompressed from "./src/http/Precompressed.ts"

const folder = join(process.argv[2]!, "reference")
mkdirSync(folder, { recursive: true })
for (const [name, text] of Object.entries(Reference.texts))
  await Precompressed.write(join(folder, name), await Effect.runPromise(text))
