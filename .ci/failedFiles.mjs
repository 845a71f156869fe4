/** Prints the files with a failed test or hook, from the results that vitest's `json` reporter wrote. */
import { readFileSync } from "node:fs"
import { relative } from "node:path"

const { testResults } = JSON.parse(readFileSync(process.argv[2], "utf8"))
for (const { name, status } of testResults) if (status === "failed") console.log(relative(process.cwd(), name))
