/** Commands that install packages say what to do before the first release. */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join, relative, resolve } from "node:path"
import { assert, describe, it } from "vitest"
import { installs, noteFor } from "../../docs/installs.ts"

const root = resolve(import.meta.dirname, "../..")

const pages = execFileSync("git", ["ls-files", "*.md"], { cwd: root, encoding: "utf8" }).trim().split("\n")

const command = /^[^>\n]*\b(?:npm install|npx)(?: -\S+)* @govoice\//m

describe("the guide in Polish", () => {
  it("has the code of the guide in English, which the quick starts run, with comments of its own", () => {
    const blocks = (page: string) =>
      Array.from(readFileSync(join(root, "docs/guides", page), "utf8").matchAll(/^```\w+\n[^]*?^```$/gm), ([block]) =>
        block.replaceAll(/(?<=^|\s)(?:#|\/\/) .*$/gm, "")
      )
    assert.deepStrictEqual(blocks("integrators-pl.md"), blocks("integrators.md"))
  })
})

describe("the note before the first release", () => {
  it("is on each page with a command that installs a package", () => {
    const fences = (page: string) =>
      Array.from(readFileSync(join(root, page), "utf8").matchAll(/```sh\n[^]*?```/g), String)
    assert.sameMembers(
      pages.filter((page) => fences(page).some((fence) => command.test(fence))),
      Object.keys(installs).map((path) => relative(root, resolve(root, "docs", path)))
    )
  })

  it("names the command that makes the tarballs, and is empty once packages are released", () => {
    const note = noteFor(["@govoice/client"], { released: false })
    assert.include(note, "npx -y pnpm@12 run pack")
    assert.match(note, /file:<checkout>\/tarballs\/govoice-client-\d+\.\d+\.\d+\.tgz/)
    assert.strictEqual(noteFor(["@govoice/client"], { released: true }), "")
  })
})
