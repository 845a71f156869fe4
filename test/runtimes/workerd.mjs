/**
 * Runs the suite in workerd: `node workerd.mjs <url of dist> <url of vectors.json> <sync|async>`. With `sync` the
 * worker has nodejs_compat and node:crypto, with `async` neither. The suite runs in three requests, because workerd restricts the
 * use of objects of one request in another.
 */
import { Miniflare } from "miniflare"
import { readdirSync, readFileSync } from "node:fs"

const [dist, vectorsUrl, mode] = process.argv.slice(2)
const read = (url) => readFileSync(url, "utf8")
const built = readdirSync(new URL(dist)).filter((name) => name.endsWith(".js") && name !== "effect.js")

const main = `
import * as library from "./dist/index.js"
import * as web from "./dist/web.js"
import * as testing from "./dist/testing.js"
import { makeEarly, run } from "./suite.js"
import vectors from "./vectors.js"

const early = makeEarly(library)
export default {
  async fetch() {
    return Response.json(await run({ library, web, testing, vectors, early, sync: ${mode === "sync"} }))
  }
}
`

const miniflare = new Miniflare({
  host: "127.0.0.1",
  compatibilityDate: "2026-07-01",
  compatibilityFlags: mode === "sync" ? ["nodejs_compat"] : [],
  modules: [
    { type: "ESModule", path: "main.js", contents: main },
    { type: "ESModule", path: "suite.js", contents: read(new URL("suite.mjs", import.meta.url)) },
    { type: "ESModule", path: "vectors.js", contents: `export default ${read(new URL(vectorsUrl))}` },
    ...built.map((name) => ({ type: "ESModule", path: `dist/${name}`, contents: read(new URL(name, dist)) }))
  ]
})

try {
  const reports = []
  for (let request = 0; request < 3; request += 1) {
    const response = await miniflare.dispatchFetch("http://127.0.0.1/")
    reports.push(await response.json())
  }
  const failures = reports.flatMap(({ failures }, request) => failures.map((text) => `request ${request + 1}: ${text}`))
  console.log(JSON.stringify({ cases: reports[0].cases, failures }))
  process.exitCode = failures.length === 0 ? 0 : 1
} finally {
  await miniflare.dispose()
}
