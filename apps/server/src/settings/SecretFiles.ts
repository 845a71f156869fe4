/**
 * Secrets from files: `<NAME>_FILE` names the file that has the value of the secret setting `<NAME>`, as in the images of
 * Postgres.
 */
import { Result } from "effect"
import { readFileSync } from "node:fs"
import { definitions, type Definition, type Name } from "./definitions.ts"
import type { EnvironmentVariables } from "./EnvironmentVariables.ts"

/** The settings that a file can have. */
export const names: ReadonlyArray<Name> = (Object.keys(definitions) as Array<Name>).filter(
  (name) => (definitions[name] as Definition<unknown>).secret === true
)

/** Returns the environment variable that names the file of a secret. */
export const variableOf = (name: Name): string => `${name}_FILE`

/** Tells whether an environment variable names the file of a secret. */
export const isVariable = (variable: string): boolean => names.some((name) => variableOf(name) === variable)

// A fault never contains the given value, which is the secret itself where somebody mistook one variable for the other.
const faultOf = (name: Name, env: EnvironmentVariables): string | undefined => {
  const variable = variableOf(name)
  if (env[name] !== undefined) return `Set ${name} or ${variable}, not both.`
  return env[variable] === "" ? `${variable} is empty. Set the path of a file or remove it.` : undefined
}

const readValue = (variable: string, path: string): Result.Result<string, string> =>
  Result.flatMap(
    Result.try({
      try: () => readFileSync(path, "utf8").replace(/\r?\n$/, ""),
      catch: (error) =>
        `${variable} must name a file that can be read (${(error as NodeJS.ErrnoException).code}). Correct the path, or let this user read the file.`
    }),
    (value) =>
      value === ""
        ? Result.fail(`${variable} names an empty file. Write the value of the setting to it.`)
        : Result.succeed(value)
  )

/** Returns the environment with the secrets of files in place, without the newline at their end, and a sentence for each fault. */
export const resolve = (
  env: EnvironmentVariables
): { readonly env: EnvironmentVariables; readonly faults: ReadonlyArray<string> } => {
  const resolved: Record<string, string | undefined> = { ...env }
  const faults: Array<string> = []
  for (const name of names) {
    const path = env[variableOf(name)]
    if (path === undefined) continue
    const fault = faultOf(name, env)
    const value = fault === undefined ? readValue(variableOf(name), path) : Result.fail(fault)
    if (Result.isSuccess(value)) resolved[name] = value.success
    else faults.push(value.failure)
  }
  return { env: resolved, faults }
}
