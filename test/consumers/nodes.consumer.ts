/**
 * The oldest Nodes that `engines` names load the packages by `import` and by `require`, and use them.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { runInNewContext } from "node:vm"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { makeProject, type Project } from "../packaging/support/project.ts"
import { load, works } from "./support/program.ts"
import { type Service, startService } from "./support/service.ts"

// The npm packages that have the programs of Node.
const binary = `node-${process.platform}-${process.arch}`
const nodes = { "20.0.0": "oldest-node-20", "22.0.0": "oldest-node-22" }

let service: Service
let project: Project
beforeAll(async () => {
  service = await startService()
  project = makeProject({
    packages: ["@govoice/client", "@govoice/webhooks"],
    others: Object.fromEntries(Object.entries(nodes).map(([version, name]) => [name, `npm:${binary}@${version}`]))
  })
  project.write("main.mjs", `${load("esm", service.url)}\nconsole.log(await use(webhooks, client))\n`)
  project.write("main.cjs", `${load("cjs", service.url)}\nuse(webhooks, client).then(console.log)\n`)
})
afterAll(() => {
  service?.close()
  project?.remove()
})

const builtFiles = (name: string, extension: string) => {
  const folder = join(project.folder, "node_modules", name, "dist")
  return readdirSync(folder)
    .filter((file) => file.endsWith(extension))
    .map((file) => join(folder, file))
}

describe.each(Object.entries(nodes))("Node %s", (version, name) => {
  const node = () => join(project.folder, "node_modules", name, "bin/node")

  it("is the one that runs", async () => {
    assert.strictEqual(await project.execute(node(), ["--version"]), `v${version}\n`)
  })

  it.each(["main.mjs", "main.cjs"])("runs %s", async (file) => {
    assert.strictEqual(await project.execute(node(), [file]), `${works}\n`)
  })

  it("requires every CommonJS file", async () => {
    for (const file of ["@govoice/client", "@govoice/webhooks"].flatMap((name) => builtFiles(name, ".cjs"))) {
      await project.execute(node(), ["-e", `require(${JSON.stringify(file)})`])
    }
  })
})

describe.each(["@govoice/client", "@govoice/webhooks"])("The CommonJS files of %s", (name) => {
  it("require CommonJS files only", () => {
    const files = builtFiles(name, ".cjs")
    assert.isNotEmpty(files)
    for (const file of files) {
      const required = Array.from(
        readFileSync(file, "utf8").matchAll(/\brequire\(\s*["'](.*?)["']\s*\)/g),
        ([, id]) => id!
      )
      assert.deepStrictEqual(
        required.filter((id) => !/^\.\/[\w-]+\.cjs$/.test(id)),
        [],
        file
      )
    }
  })

  it("load where there is no global but those of the language", () => {
    const loaded = new Map<string, object>()
    const require = (file: string): object => {
      const known = loaded.get(file)
      if (known !== undefined) return known
      const module = { exports: {} }
      loaded.set(file, module.exports)
      const run = runInNewContext(`(module, exports, require) => {${readFileSync(file, "utf8")}\n}`) as (
        module: { exports: object },
        exports: object,
        require: (id: string) => object
      ) => void
      run(module, module.exports, (id) => require(join(file, "..", id)))
      return module.exports
    }
    for (const file of builtFiles(name, ".cjs")) assert.isNotEmpty(Object.keys(require(file)), file)
  })
})
