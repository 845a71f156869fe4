/** The variants of a comparison: checkouts, or settings of one checkout. */
import { existsSync } from "node:fs"
import { join, relative, resolve } from "node:path"
import type * as BuildConsoleModule from "../apps/server/buildConsole.ts"

/** Settings of a server. */
export type Settings = Readonly<Record<string, string>>

export interface Variant {
  readonly label: string
  /** The folder of the checkout. */
  readonly root: string
  readonly settings: Settings
}

// Before a bench changes the directory to that of a checkout.
const here = process.cwd()

/** Reads `LABEL=DIRECTORY[,SETTING=VALUE...]`. */
export const parseVariant = (argument: string): Variant => {
  const [first = "", ...assignments] = argument.split(",")
  const split = (text: string): [string, string] => {
    const at = text.indexOf("=")
    if (at < 1) throw new Error(`Expected LABEL=DIRECTORY[,SETTING=VALUE...], got ${argument}`)
    return [text.slice(0, at), text.slice(at + 1)]
  }
  const [label, directory] = split(first)
  return { label, root: resolve(here, directory), settings: Object.fromEntries(assignments.map(split)) }
}

/** The variants of a round: every other round in reverse, so that a machine that slows down does not favor one of them. */
export const inTurn = <A>(variants: ReadonlyArray<A>, round: number): ReadonlyArray<A> =>
  round % 2 === 0 ? variants : variants.toReversed()

/** The command of this process, as it can be repeated. */
export const command: string = [
  "node --conditions=source",
  relative(process.cwd(), process.argv[1]!),
  ...process.argv.slice(2)
].join(" ")

/** Builds the console of a checkout that has one. */
export const buildConsoleOf = async (root: string): Promise<void> => {
  const path = join(root, "apps/server/buildConsole.ts")
  if (!existsSync(path)) return
  const { buildConsole } = (await import(path)) as typeof BuildConsoleModule
  await buildConsole()
}

/** Ends this process in order after Ctrl-C, so that what it started is stopped and removed. */
export const exitOnSignals = (): void => {
  process.once("SIGINT", () => process.exit(130))
  process.once("SIGTERM", () => process.exit(143))
}
