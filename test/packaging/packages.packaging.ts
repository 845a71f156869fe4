/**
 * Installs every package from its tarball into an empty project of each kind, and uses it.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { isNewNode, makeProject, type Project } from "./support/project.ts"
import { anywhere, onNode, withPromises } from "./programs/typescript.ts"

const portable = ["@govoice/api", "@govoice/client", "@govoice/core", "@govoice/webhooks"]
const all = [...portable, ...(isNewNode ? ["@govoice/dispatcher"] : [])]
const standalone = ["@govoice/client", "@govoice/webhooks"]

const shortName = (name: string): string => name.slice("@govoice/".length)

// A program that loads the packages as its module kind does and passes them to `exercise.mjs`.
const program = (type: "module" | "commonjs", names: ReadonlyArray<string>): string => {
  const members = names.map((name) => shortName(name)).join(", ")
  return type === "module"
    ? [
        ...names.map((name) => `import * as ${shortName(name)} from "${name}"`),
        'import { exercise } from "./exercise.mjs"',
        `await exercise({ ${members} })`
      ].join("\n")
    : [
        ...names.map((name) => `const ${shortName(name)} = require("${name}")`),
        `import("./exercise.mjs").then(({ exercise }) => exercise({ ${members} }))`
      ].join("\n")
}

const runs = (project: Project, type: "module" | "commonjs", names: ReadonlyArray<string>): void => {
  const file = type === "module" ? "main.mjs" : "main.cjs"
  project.copy("exercise.mjs")
  project.write(file, program(type, names))
  assert.strictEqual(project.run(file), works(names))
}

const works = (names: ReadonlyArray<string>): string => names.map((name) => `${shortName(name)}: works\n`).join("")

const project = (options: Parameters<typeof makeProject>[0]): { readonly current: () => Project } => {
  let made: Project | undefined
  beforeAll(() => {
    made = makeProject(options)
  })
  afterAll(() => made?.remove())
  return { current: () => made! }
}

describe.each(["module", "commonjs"] as const)("an empty project of type %s", (type) => {
  const { current } = project({ packages: all, tools: ["effect"], type })

  it("uses the packages without Node modules", () => {
    // Older ones do not load by `require` what needs Effect.
    runs(current(), type, type === "module" || isNewNode ? portable : standalone)
  })

  it.skipIf(!isNewNode)("uses the dispatcher", () => {
    runs(current(), type, ["@govoice/dispatcher"])
  })
})

describe("a project without Effect", () => {
  const { current } = project({ packages: standalone })

  it("receives webhooks and submits invoices with import and require", () => {
    runs(current(), "module", standalone)
    runs(current(), "commonjs", standalone)
  })

  it("installs no other package", () => {
    const installed = readdirSync(join(current().folder, "node_modules/.pnpm")).filter((name) => name.includes("@"))
    assert.lengthOf(installed, standalone.length, installed.join())
  })
})

const compile = (project: Project, program: string, compilerOptions: object): string => {
  project.write("program.ts", program)
  project.write(
    "tsconfig.json",
    JSON.stringify({
      compilerOptions: {
        target: "ES2022",
        strict: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: false,
        noEmit: true,
        ...compilerOptions
      },
      files: ["program.ts"]
    })
  )
  return project.run("node_modules/typescript/bin/tsc", "-p", ".")
}

describe("an empty TypeScript project", () => {
  const { current } = project({
    packages: ["@govoice/dispatcher", ...portable],
    tools: ["effect", "typescript", "@types/node"],
    type: "module"
  })
  // DOM, because the types of Effect name CryptoKey; `skipLibCheck` makes it unnecessary.
  const esnext = { lib: ["ES2024", "ESNext.Disposable", "DOM"], types: ["node"] }

  it("compiles with NodeNext resolution", () => {
    assert.strictEqual(compile(current(), onNode, { module: "NodeNext", ...esnext }), "")
  })

  it("compiles with bundler resolution", () => {
    assert.strictEqual(compile(current(), onNode, { module: "ESNext", moduleResolution: "bundler", ...esnext }), "")
  })

  it("compiles the promise API of the dispatcher without DOM", () => {
    const withoutDom = { module: "NodeNext", lib: ["ES2022"], types: ["node"] }
    assert.strictEqual(compile(current(), withPromises, withoutDom), "")
  })

  it("compiles the packages without Node modules without the types of Node", () => {
    const browser = { module: "ESNext", moduleResolution: "bundler", lib: ["ES2024", "DOM"], types: [] }
    assert.strictEqual(compile(current(), anywhere, browser), "")
  })
})

describe("an empty project that bundles", () => {
  const { current } = project({ packages: standalone, tools: ["esbuild", "vite"], type: "module" })

  const bundled = (): string => readFileSync(join(current().folder, "dist/bundle.js"), "utf8")

  beforeAll(() => {
    current().copy("exercise.mjs", "browser.mjs")
    current().write(
      "bundled.mjs",
      [
        'import * as bundle from "./dist/bundle.js"',
        'import { exercise } from "./exercise.mjs"',
        "await exercise({ client: bundle, webhooks: bundle })"
      ].join("\n")
    )
  })

  it("with esbuild, for browsers", () => {
    const args = ["--bundle", "--format=esm", "--platform=browser", "--outfile=dist/bundle.js"]
    current().run("node_modules/esbuild/bin/esbuild", "browser.mjs", ...args)
    assert.notMatch(bundled(), /from\s*"node:|require\("node:/)
    assert.strictEqual(current().run("bundled.mjs"), works(standalone))
  })

  it("with Vite, as a library", () => {
    current().write(
      "vite.config.js",
      `export default { logLevel: "error", build: { lib: { entry: "browser.mjs", formats: ["es"], fileName: () => "bundle.js" } } }`
    )
    current().run("node_modules/vite/bin/vite.js", "build")
    assert.strictEqual(current().run("bundled.mjs"), works(standalone))
  })
})

describe("tarballs", () => {
  const names = [...portable, "@govoice/dispatcher", "@govoice/ksef-simulator"]
  const { current } = project({ packages: names, tools: ["effect"] })

  it.each(names)(
    "%s has a README, a changelog, the license and what it was built to, and no sources or tests",
    (name) => {
      const installed = join(current().folder, "node_modules", name)
      for (const file of ["CHANGELOG.md", "README.md", "LICENSE", "dist", "package.json"]) {
        assert.isTrue(existsSync(join(installed, file)), `${name} lacks ${file}`)
      }
      assert.isEmpty(readdirSync(installed).filter((file) => /^(?:test|tsconfig|tsup)/.test(file)))
      const { exports } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as { exports: object }
      assert.notInclude(JSON.stringify(exports), '"source"')
    }
  )
})
