/** Test files that share processes (`unit-shared`, `integration-shared`) change nothing that another of them could see. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { notUnit, sharing } from "../../vitest.config.ts"

const root = join(import.meta.dirname, "../..")

const rules: ReadonlyArray<readonly [string, RegExp]> = [
  ["replaces a module or a global", /\bvi\.(?:mock|doMock|hoisted|stub\w+|useFakeTimers|spyOn)\b/],
  ["starts a process or a thread", /["']node:(?:child_process|cluster|worker_threads)["']|\bserverProcess\b/],
  ["opens a connection", /["']node:(?:dgram|https?|http2|net|tls)["']|\/support\/redis\.ts["']/],
  ["judges the memory of its process", /\bmemoryUsage\b/],
  ["changes its process", /\bprocess\.(?:chdir|exitCode\s*=[^=]|on\(|once\(|env(?:\.\w+|\[[^\]]*\])\s*=[^=])/],
  ["changes a global", /\b(?:globalThis|global)\.\w+\s*=[^=]/]
]

const breaches = (text: string): ReadonlyArray<string> =>
  rules.filter(([, pattern]) => pattern.test(text)).map(([rule]) => rule)

// Each is evaluated for every file: a setup file, or a module that starts processes, which no file that shares one may import.
const perFile = ["test/support/compileCache.ts", "test/support/hooks.ts", "test/support/serverProcess.ts"]

describe("Test files that share processes", () => {
  it("import no module whose hooks would belong to the first of them", () => {
    const modules = globSync("{.,packages/*,apps/*}/test/**/*.ts", {
      cwd: root,
      exclude: ["**/node_modules/**", "**/*.test.ts"]
    })
    assert.isAbove(modules.length, 100)
    const withHooks = modules.filter((file) =>
      /^(?:before|after)(?:Each|All)\(/m.test(readFileSync(join(root, file), "utf8"))
    )
    assert.sameMembers(withHooks, perFile)
  })

  it("start no process and replace no module", () => {
    const units = globSync(sharing.unit, { cwd: root, exclude: notUnit })
    assert.isAbove(units.length, 50)
    const integrations = globSync(sharing.integration, { cwd: root })
    assert.isAbove(integrations.length, 30)
    const files = [...units, ...integrations]
    const found = files.map((file) => [file, breaches(readFileSync(join(root, file), "utf8"))] as const)
    assert.deepStrictEqual(
      found.filter(([, rules]) => rules.length > 0),
      []
    )
  })

  it.each([
    'vi.mock("node:crypto", async () => ({}))',
    'import { spawn } from "node:child_process"',
    'import { createServer } from "node:http"',
    'process.env["TZ"] = "UTC"',
    "process.env.TZ = undefined",
    'process.on("warning", () => {})',
    "globalThis.fetch = fetched",
    'import { startRedis } from "./support/redis.ts"',
    "const before = process.memoryUsage.rss()"
  ])("are reported if they have %s", (text) => assert.lengthOf(breaches(text), 1))

  it.each(['if (process.env["TZ"] === "UTC") {}', "const xpath = vi.fn()", "globalThis.fetch === fetched"])(
    "may have %s",
    (text) => assert.lengthOf(breaches(text), 0)
  )
})
