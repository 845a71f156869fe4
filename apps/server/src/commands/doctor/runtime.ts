/** Checks the version of Node. */
import manifest from "../../../package.json" with { type: "json" }
import { type Finding, fault, ok } from "./Finding.ts"

const numbers = (version: string): ReadonlyArray<number> =>
  (/\d+(?:\.\d+)*/.exec(version)?.[0] ?? "0").split(".").map(Number)

const isAtLeast = (version: string, minimum: string): boolean => {
  const [actual, required] = [numbers(version), numbers(minimum)]
  const differing = required.findIndex((part, index) => (actual[index] ?? 0) !== part)
  return differing === -1 || (actual[differing] ?? 0) > required[differing]!
}

export const check = (version: string = process.versions.node): ReadonlyArray<Finding> => {
  const { node } = manifest.engines
  return isAtLeast(version, node)
    ? [ok("node", `Node ${version}`)]
    : [fault("node", `Node ${version} is too old: ${node} is required.`, "Install a newer Node.")]
}
