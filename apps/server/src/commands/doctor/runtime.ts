/**
 * The Node that runs the program.
 *
 * @since 0.1.0
 */
import manifest from "../../../package.json" with { type: "json" }
import { type Finding, fault, ok } from "./Finding.ts"

const numbers = (version: string): ReadonlyArray<number> =>
  (/\d+(?:\.\d+)*/.exec(version)?.[0] ?? "0").split(".").map(Number)

const isAtLeast = (version: string, least: string): boolean => {
  const [is, wants] = [numbers(version), numbers(least)]
  const differs = wants.findIndex((part, index) => (is[index] ?? 0) !== part)
  return differs === -1 || (is[differs] ?? 0) > wants[differs]!
}

/**
 * Looks at the version of Node.
 *
 * @category checks
 * @since 0.1.0
 */
export const check = (version: string = process.versions.node): ReadonlyArray<Finding> => {
  const { node } = manifest.engines
  return isAtLeast(version, node)
    ? [ok("node", `Node ${version}`)]
    : [fault("node", `Node ${version} is older than this program needs (${node}).`, "Install a newer Node.")]
}
