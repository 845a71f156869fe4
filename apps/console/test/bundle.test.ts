/**
 * The built page: its size, its requests, and nothing inline.
 */
import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { gzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

const outDir = mkdtempSync(join(tmpdir(), "console-"))
let html = ""
let files: ReadonlyArray<string> = []

const compressed = (kind: RegExp): number =>
  files
    .filter((file) => kind.test(file))
    .reduce((sum, file) => sum + gzipSync(readFileSync(join(outDir, file)), { level: 9 }).byteLength, 0)

describe("the built console", () => {
  beforeAll(async () => {
    const root = join(import.meta.dirname, "..")
    const env = { ...process.env, NODE_ENV: "production" }
    await promisify(execFile)(process.execPath, ["build.ts", outDir], { cwd: root, env })
    html = readFileSync(join(outDir, "index.html"), "utf8")
    files = Array.from(html.matchAll(/(?:src|href)="\/console\/([^"]+)"/g), ([, file]) => file!)
  })
  afterAll(() => rmSync(outDir, { recursive: true, force: true }))

  it.each(["en", "pl"])(
    "loads at most 120 KB of JavaScript and 12 KB of CSS for its first page in %s, compressed",
    (language) => {
      // The texts of one language beside the files of the page.
      const texts = readdirSync(join(outDir, "assets")).filter((file) =>
        new RegExp(`^${language}-[^.]+\\.js$`).test(file)
      )
      assert.lengthOf(texts, 1)
      const ofTexts = gzipSync(readFileSync(join(outDir, "assets", texts[0]!)), { level: 9 }).byteLength
      assert.isAbove(ofTexts, 5000)
      const [js, css] = [compressed(/\.js$/) + ofTexts, compressed(/\.css$/)]
      assert.isAbove(js, 60_000)
      assert.isAtMost(js, 120 * 1024)
      assert.isAbove(css, 1000)
      assert.isAtMost(css, 12 * 1024)
    }
  )

  it("needs at most ten requests: the page, its files and typeface, its texts, the configuration and the session", () => {
    assert.isAtMost(1 + files.length + 3, 10)
  })

  it("loads a typeface of at most 60 KB with the letters of Polish, the first file early, and shows words meanwhile", () => {
    const fonts = readdirSync(join(outDir, "assets")).filter((file) => file.endsWith(".woff2"))
    assert.lengthOf(fonts, 2)
    const bytes = fonts.reduce((sum, file) => sum + readFileSync(join(outDir, "assets", file)).byteLength, 0)
    assert.isAtMost(bytes, 60 * 1024)
    const early = Array.from(
      html.matchAll(/<link rel="preload" as="font"[^>]* href="\/console\/assets\/([^"]+)"/g),
      ([, file]) => file!
    )
    assert.deepStrictEqual(
      early,
      fonts.filter((file) => !file.includes("-ext-"))
    )
    const css = readFileSync(
      join(
        outDir,
        files.find((file) => file.endsWith(".css"))!
      ),
      "utf8"
    )
    assert.lengthOf(css.match(/font-display:swap/g) ?? [], 2)
  })

  it("has no inline script, style or event handler, and no file of another path than /console/", () => {
    assert.notMatch(html, /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/i)
    assert.notMatch(html, /(?:src|href)="(?!\/console\/)/)
  })

  it("loads the theme first, as a blocking script", () => {
    assert.match(html, /<head>\s*<script src="\/console\/theme-[\w-]+\.js"><\/script>/)
    assert.notMatch(
      readFileSync(
        join(
          outDir,
          files.find((file) => file.startsWith("theme-"))!
        ),
        "utf8"
      ),
      /\b(?:import|export)\b/
    )
  })
})
