/**
 * Compares this checkout with a commit: runs a benchmark for both in turns, and prints the medians, the ratio and its spread.
 *
 *     pnpm bench compare COMMIT [engine|api|dispatcher] [ROUNDS]
 *
 * The commit is checked out in a temporary folder, which is removed at the end. Both checkouts run the benchmark of their own
 * version of the code under it, so a commit must have `bench/engine/drain.ts`, `bench/api/govoice.ts` or
 * `bench/dispatcher/variants.ts`.
 */
import { join, resolve } from "node:path"
import { checkOut, nameOf, run } from "./commit.ts"

const root = resolve(import.meta.dirname, "..")

// The words between the rounds and the variants: how many deliveries, or milliseconds.
const sizes = { engine: "50000", api: "5000", dispatcher: "1000" } as const

const usage = `Usage: pnpm bench compare COMMIT [${Object.keys(sizes).join("|")}] [ROUNDS]`

/** Runs the comparison with these words of the command line, and returns its exit code. */
export const compare = async ([commit, name = "engine", rounds = "6"]: ReadonlyArray<string>): Promise<number> => {
  if (commit === undefined || !(name in sizes) || !/^[1-9]\d*$/.test(rounds)) {
    console.error(usage)
    return 2
  }
  const label = nameOf(commit)
  const variants = [`${label}=${await checkOut(commit)}`, `this=${root}`]
  const file = join(root, "bench", name, "compare.ts")
  const words = ["--conditions=source", file, rounds, sizes[name as keyof typeof sizes], ...variants]
  return run(process.execPath, words, root)
}
