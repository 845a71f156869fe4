/**
 * References of the server have defaults, so the types do not show where one is missing: the context of a request has only those
 * of `http/RequestContext.ts`. This test lists how each is read.
 */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"

const root = join(import.meta.dirname, "../..")

const files = execFileSync("git", ["ls-files", "apps/server/src"], { cwd: root, encoding: "utf8" }).trim().split("\n")
const sources = files
  .filter((file) => file.endsWith(".ts"))
  .map((file) => [file, readFileSync(join(root, file), "utf8")] as const)

/** Files that declare a reference, by its name. */
const declared = new Map(
  sources.flatMap(([file, text]) =>
    Array.from(text.matchAll(/export const (\w+)\b(?:(?!\bexport\b)[^])*?\bContext\.Reference\b/g), ([, name]) => [
      name!,
      file.slice("apps/server/src/".length)
    ])
  )
)

const reads = {
  build: "read when a layer is built",
  default: "never provided by the server",
  request: "provided for each request, or kept by http/RequestContext.ts"
}

const known: Readonly<Record<string, keyof typeof reads>> = {
  CurrentDocumentBody: "request",
  CurrentSession: "request",
  Exported: "request",
  LookupTiming: "build",
  NationalSystem: "build",
  OutageLog: "default",
  RescueInterval: "build",
  StatementTime: "build"
}

describe("references of the server", () => {
  it("are all listed in this test with how they are read", () => {
    assert.sameMembers([...declared.keys()], Object.keys(known))
  })

  it("are not provided by the server where the list says default", () => {
    const names = Object.keys(known).filter((name) => known[name] === "default")
    const provided = names.filter((name) =>
      sources.some(([, text]) =>
        new RegExp(
          `(?:Layer\\.(?:succeed|effect|sync)\\((?:\\w+\\.)?${name}\\)|provideService\\((?:\\w+\\.)*${name},)`
        ).test(text)
      )
    )
    assert.deepStrictEqual(provided, [])
  })

  it("reach handlers: RequestContext.ts alone makes groups and serves routes", () => {
    // The server of the metrics has its own routes, and none of ours.
    const others = sources
      .filter(([file]) => file !== "apps/server/src/observability/MetricsServer.ts")
      .filter(([, text]) => /\bHttpApiBuilder\.group\b|\bHttpRouter\.serve\b/.test(text))
      .map(([file]) => file)
    assert.deepStrictEqual(others, ["apps/server/src/http/RequestContext.ts"])
  })
})
