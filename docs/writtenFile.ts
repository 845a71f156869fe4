/** Files that a script of the documentation writes. */
import { readFileSync, writeFileSync } from "node:fs"
import { relative } from "node:path"

/** Writes the contents of a file. With `--check`, it fails instead if the file has others, and names the script that writes it. */
export const keepCurrent = (path: string, contents: string, script: string): void => {
  if (readFileSync(path, { encoding: "utf8", flag: "a+" }) === contents) return
  if (!process.argv.includes("--check")) return writeFileSync(path, contents)
  console.error(`${relative(process.cwd(), path)} is not current: run ${script}`)
  process.exitCode = 1
}
