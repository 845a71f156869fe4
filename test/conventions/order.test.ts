/** The order in which the suite runs its files. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { longerThanTheirSize, longestFirst, mixed } from "../support/MixedSequencer.ts"

const filesOf = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({ project: { name }, index }))

describe("The order of test files", () => {
  const files = [
    ...filesOf("browser", 2),
    ...filesOf("integration", 8),
    ...filesOf("unit", 20),
    ...filesOf("unit-shared", 5)
  ]
  const order = mixed(files)
  const places = (name: string) => order.flatMap(({ project }, place) => (project.name === name ? [place] : []))

  it("has each file once, and keeps the order within a project", () => {
    assert.sameMembers(order, files)
    for (const name of ["browser", "integration", "unit", "unit-shared"]) {
      const indices = order.filter(({ project }) => project.name === name).map(({ index }) => index)
      assert.deepStrictEqual(
        indices,
        indices.map((_, place) => place)
      )
    }
  })

  it("mixes unit files and integration files from the first on", () => {
    const gaps = places("integration").map((place, index, all) => (all[index + 1] ?? place) - place)
    assert.isAtMost(Math.max(...gaps), 5)
    assert.isBelow(places("unit")[0]!, 4)
  })

  it("ends with unit files, those of shared processes in one piece", () => {
    assert.deepStrictEqual(places("unit-shared"), [30, 31, 32, 33, 34])
    assert.isBelow(Math.max(...places("browser"), ...places("integration")), 26)
  })

  it("begins with the integration files of shared processes, in one piece", () => {
    const withShared = mixed([...files, ...filesOf("integration-shared", 4)])
    assert.deepStrictEqual(withShared, [...filesOf("integration-shared", 4), ...order])
  })

  it("begins with the files that take longer than their size suggests, and keeps that of the others", () => {
    const root = join(import.meta.dirname, "../..")
    assert.deepStrictEqual(
      longerThanTheirSize.filter((file) => !existsSync(join(root, file))),
      []
    )
    const last = longerThanTheirSize.at(-1)!
    const paths = ["b.test.ts", "a.test.ts", last, longerThanTheirSize[0]!].map((path) => `/checkout/${path}`)
    assert.deepStrictEqual(
      longestFirst(paths.map((moduleId) => ({ moduleId }))).map(({ moduleId }) => moduleId),
      [paths[3]!, paths[2]!, paths[0]!, paths[1]!]
    )
  })
})
