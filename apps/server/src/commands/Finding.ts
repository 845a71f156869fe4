/** What `govoice doctor` finds, and the check that comes before everything else: it loads nothing. */
import manifest from "../../package.json" with { type: "json" }

/** The result of one check of `govoice doctor`. */
export interface Finding {
  readonly check: string
  /** A warning can be intended; a fault cannot. */
  readonly level: "ok" | "warning" | "fault"
  readonly message: string
  /** The remedy. */
  readonly remedy?: string
}

const at =
  (level: Finding["level"]) =>
  (check: string, message: string, remedy?: string): Finding => ({
    check,
    level,
    message,
    ...(remedy === undefined ? {} : { remedy })
  })

export const ok = at("ok")
export const warning = at("warning")
export const fault = at("fault")

const numbers = (version: string): ReadonlyArray<number> =>
  (/\d+(?:\.\d+)*/.exec(version)?.[0] ?? "0").split(".").map(Number)

const isAtLeast = (version: string, minimum: string): boolean => {
  const [actual, required] = [numbers(version), numbers(minimum)]
  const differing = required.findIndex((part, index) => (actual[index] ?? 0) !== part)
  return differing === -1 || (actual[differing] ?? 0) > required[differing]!
}

/** Checks the version of Node. */
export const checkRuntime = (version: string = process.versions.node): ReadonlyArray<Finding> => {
  const { node } = manifest.engines
  return isAtLeast(version, node)
    ? [ok("node", `Node ${version}`)]
    : [fault("node", `Node ${version} is too old: ${node} is required.`, "Install a newer Node.")]
}
