/**
 * The documentation site contains every public package and every exported module.
 */
import { globSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { Application } from "typedoc"
import { assert, describe, it } from "vitest"

const root = resolve(import.meta.dirname, "../..")
const read = (path: string): unknown => JSON.parse(readFileSync(join(root, path), "utf8"))

const site = read("typedoc.json") as {
  readonly entryPoints: ReadonlyArray<string>
  readonly plugin: Array<string>
  readonly highlightLanguages: ReadonlyArray<string>
  readonly ignoredHighlightLanguages: ReadonlyArray<string>
}

// Reads the options of a package like TypeDoc.
const entryPoints = async (folder: string): Promise<ReadonlyArray<string>> => {
  const plugin = site.plugin.map((path) => join(root, path))
  const app = await Application.bootstrapWithPlugins({ plugin, logLevel: "Error" })
  const options = app.options.copyForPackage(join(root, folder))
  await options.read(app.logger, join(root, folder))
  return options.getValue("entryPoints")
}

describe("the documentation site", () => {
  const folders = globSync("packages/*", { cwd: root }).filter(
    (folder) => (read(`${folder}/package.json`) as { readonly private?: boolean }).private !== true
  )

  it("has every public package", () => {
    assert.sameMembers([...site.entryPoints], folders)
  })

  it("has a highlighter for every language of the code in its pages", () => {
    const { highlightLanguages, ignoredHighlightLanguages } = site
    const known = new Set([...highlightLanguages, ...ignoredHighlightLanguages])
    const aliases: Readonly<Record<string, string>> = { sh: "bash", ts: "typescript", html: "html" }
    const pages = globSync(["*.md", "docs/{guides,errors,decisions}/*.md", "{packages,apps}/*/README.md"], {
      cwd: root
    })
    const fences = pages.flatMap((page) =>
      Array.from(readFileSync(join(root, page), "utf8").matchAll(/^```([a-z]+)$/gm), ([, language]) => language!)
    )
    const unknown = new Set(fences.filter((language) => !known.has(aliases[language] ?? language)))
    assert.deepStrictEqual([...unknown], [])
  })

  it.each(folders)("has every module of %s", async (folder) => {
    const { exports } = read(`${folder}/package.json`) as {
      readonly exports: Readonly<Record<string, object | string>>
    }
    const sources = Object.values(exports).flatMap((target) =>
      typeof target === "object" && "source" in target ? [join(root, folder, String(target.source))] : []
    )
    assert.isNotEmpty(sources)
    assert.deepStrictEqual(await entryPoints(folder), sources)
  })
})
