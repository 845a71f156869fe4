/** Writes the files of an empty, migrated database into the folder of the bundle, which is the argument. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as PreparedDatabase from "./src/database/prepared/PreparedDatabase.ts"

writeFileSync(join(process.argv[2]!, PreparedDatabase.fileName), await PreparedDatabase.make())
