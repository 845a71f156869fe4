/**
 * The types compile with every supported TypeScript, with the types of each platform, in both kinds of resolution, and with and
 * without `skipLibCheck`. CI has the oldest and the newest TypeScript, without it.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { makeProject, type Project } from "../packaging/support/project.ts"
import { bare, onNode, onPlatform, onWorkers } from "./support/types.ts"

const isAll = process.env["CONSUMERS"] === "all"

// The oldest supported one and the newest, with the types of Node of their time.
const compilers = [
  { typescript: "5.0.4", node: "20.9.0", others: ["5.1.6", "5.2.2", "5.3.3", "5.4.5"] },
  { typescript: "7.0.2", node: "26.6.6", others: ["5.9.3", "6.0.3"] }
]

const dom = ["ES2022", "DOM", "DOM.Iterable"]
interface Platform {
  readonly name: string
  readonly lib: ReadonlyArray<string>
  readonly types: ReadonlyArray<string>
  readonly programs: Readonly<Record<string, string>>
}
const platforms: ReadonlyArray<Platform> = [
  { name: "no platform", lib: ["ES2022"], types: [], programs: { bare } },
  { name: "the DOM", lib: dom, types: [], programs: { bare, onPlatform } },
  { name: "Node", lib: ["ES2022"], types: ["node"], programs: { bare, onPlatform, onNode } },
  { name: "Node and the DOM", lib: dom, types: ["node"], programs: { bare, onPlatform, onNode } },
  { name: "workers", lib: ["ES2022"], types: ["@cloudflare/workers-types"], programs: { bare, onPlatform, onWorkers } }
]

const resolutions = [
  { module: "Node16", moduleResolution: "Node16" },
  { module: "ESNext", moduleResolution: "Bundler" }
]

describe.each(compilers)("The types for TypeScript $typescript and the types of Node $node", (pair) => {
  let project: Project
  const versions = [pair.typescript, ...(isAll ? pair.others : [])]
  beforeAll(() => {
    project = makeProject({
      packages: ["@govoice/client", "@govoice/webhooks"],
      others: {
        "@types/node": pair.node,
        "@cloudflare/workers-types": "5.20261117.1",
        ...Object.fromEntries(versions.map((version) => [`typescript-${version}`, `npm:typescript@${version}`]))
      },
      type: "module"
    })
    for (const [name, text] of Object.entries({ bare, onPlatform, onNode, onWorkers }))
      project.write(`${name}.ts`, text)
  })
  afterAll(() => project?.remove())

  const cases = versions.flatMap((version) =>
    platforms.flatMap((platform) =>
      resolutions.flatMap((resolution) =>
        (isAll ? [false, true] : [false]).map((skipLibCheck) => ({
          version,
          platform,
          resolution,
          skipLibCheck,
          name: `${version}, ${platform.name}, ${resolution.moduleResolution}, skipLibCheck ${skipLibCheck}`
        }))
      )
    )
  )

  it.each(cases)("$name", async ({ version, platform, resolution, skipLibCheck }) => {
    // The types of Node are those of another time than this compiler.
    if (version !== pair.typescript && platform.types.includes("node") && !skipLibCheck) return
    const name = `tsconfig.${version}-${platform.name.replaceAll(" ", "-")}-${resolution.module}-${skipLibCheck}.json`
    const compilerOptions = {
      target: "ES2022",
      strict: true,
      exactOptionalPropertyTypes: !skipLibCheck,
      noEmit: true,
      lib: platform.lib,
      types: platform.types,
      skipLibCheck,
      ...resolution
    }
    const files = Object.keys(platform.programs).map((program) => `${program}.ts`)
    project.write(name, JSON.stringify({ compilerOptions, files }))
    const output = await project.execute(process.execPath, [`node_modules/typescript-${version}/bin/tsc`, "-p", name])
    assert.strictEqual(output, "")
  })
})
