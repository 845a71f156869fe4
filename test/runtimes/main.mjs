/**
 * Runs the suite on Node, Bun or Deno: `<runtime> main.mjs <url of dist> <url of vectors.json> <sync|async>`.
 * `async` hides node:crypto.
 */
const [dist, vectorsUrl, mode] = process.argv.slice(2)
if (mode === "async") Object.defineProperty(process, "getBuiltinModule", { value: undefined })

const { makeEarly, run } = await import(new URL("suite.mjs", import.meta.url).href)
const { readFileSync } = await import("node:fs")
const library = await import(new URL("index.js", dist).href)
const early = makeEarly(library)
const report = await run({
  library,
  early,
  web: await import(new URL("web.js", dist).href),
  testing: await import(new URL("testing.js", dist).href),
  vectors: JSON.parse(readFileSync(new URL(vectorsUrl), "utf8")),
  sync: mode === "sync"
})
console.log(JSON.stringify(report))
process.exit(report.failures.length === 0 ? 0 : 1)
