/**
 * The help of every command, as the build has prepared it. `cli.ts` prints it without loading Effect, which takes four times as
 * long as Node takes to start.
 */
import { readFileSync } from "node:fs"
import { stripVTControlCharacters } from "node:util"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"

/** The name of the file beside the bundle: an object from the names of a command, such as `account create`, to its help. */
export const fileName = "help.json"

/** Returns whether a command line prints colors, by the rule of `TerminalCapabilities` of Effect. */
export const printsColors = (
  { FORCE_COLOR, NO_COLOR, TERM }: EnvironmentVariables,
  { isTTY = false }: { readonly isTTY?: boolean }
): boolean => {
  if (TERM === "dumb" || (NO_COLOR ?? "") !== "") return false
  return isTTY || !["", "0", "false"].includes((FORCE_COLOR ?? "").toLowerCase())
}

const read = (file: URL): Readonly<Record<string, string>> => {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<string, string>>
  } catch {
    // From source, nothing is prepared.
    return {}
  }
}

/** Returns the prepared help that the arguments ask for, with colors; `undefined` if they ask for anything else. */
export const find = (args: ReadonlyArray<string>, file: URL): string | undefined => {
  const flag = args.at(-1)
  if (flag !== "--help" && flag !== "-h") return undefined
  const names = args.slice(0, -1).join(" ")
  const texts = read(file)
  return Object.hasOwn(texts, names) ? texts[names] : undefined
}

/** Prints the prepared help that the arguments ask for. Returns whether it did. */
export const print = (
  args: ReadonlyArray<string>,
  { env, file, output }: { readonly env: EnvironmentVariables; readonly file: URL; readonly output: NodeJS.WriteStream }
): boolean => {
  const help = find(args, file)
  if (help === undefined) return false
  output.write(`${printsColors(env, output) ? help : stripVTControlCharacters(help)}\n`)
  return true
}
