import { globSync, readFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"

const source = join(import.meta.dirname, "../src")

/** The files that a file imports or exports from, types included. */
const importsOf = (file: string): ReadonlyArray<string> =>
  [...readFileSync(file, "utf8").matchAll(/^(?:import|export)\b[^"]*?from "(\.[^"]+)"/gm)].map(([, specifier]) =>
    resolve(dirname(file), specifier!)
  )

/** Cycles of imports, each as the files on its way. */
const cyclesOf = (graph: ReadonlyMap<string, ReadonlyArray<string>>): ReadonlyArray<string> => {
  const done = new Set<string>()
  const cycles: Array<string> = []
  const visit = (file: string, path: ReadonlyArray<string>): void => {
    const start = path.indexOf(file)
    if (start !== -1) {
      cycles.push([...path.slice(start), file].map((each) => relative(source, each)).join(" imports "))
      return
    }
    if (done.has(file)) return
    for (const next of graph.get(file) ?? []) visit(next, [...path, file])
    done.add(file)
  }
  for (const file of graph.keys()) visit(file, [])
  return cycles
}

describe("Imports of the dispatcher", () => {
  const files = globSync("**/*.ts", { cwd: source }).map((file) => join(source, file))
  const graph = new Map(files.map((file) => [file, importsOf(file)]))

  it("have no cycle, types included", () => {
    assert.deepEqual(cyclesOf(graph), [])
  })

  it("are read from every file but those that import nothing", () => {
    const edges = [...graph.values()].flat()
    assert.isAbove(edges.length, 80)
    for (const edge of edges) assert.isTrue(graph.has(edge), edge)
  })

  it("with a cycle are reported", () => {
    const [a, b] = [join(source, "a.ts"), join(source, "b.ts")]
    assert.deepEqual(
      cyclesOf(
        new Map([
          [a, [b]],
          [b, [a]]
        ])
      ),
      ["a.ts imports b.ts imports a.ts"]
    )
  })
})
