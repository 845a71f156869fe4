/**
 * Runs the suite in headless Chromium: `node chromium.mjs <url of dist> <url of vectors.json> <path of chromium>`.
 * A server on the loopback interface gives the page its modules and takes its report.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"

const [dist, vectorsUrl, chromium] = process.argv.slice(2)

const page = `<!doctype html><meta charset="utf-8"><script type="module">
const send = (report) => fetch("/report", { method: "POST", body: JSON.stringify(report) })
try {
  const library = await import("/dist/index.js")
  const { makeEarly, run } = await import("/suite.mjs")
  const early = makeEarly(library)
  await send(await run({
    library,
    early,
    web: await import("/dist/web.js"),
    testing: await import("/dist/testing.js"),
    vectors: await (await fetch("/vectors.json")).json(),
    sync: false
  }))
} catch (error) {
  await send({ cases: 0, failures: [String(error?.stack ?? error)] })
}
</script>`

const contents = (path) => {
  if (path === "/") return ["text/html", page]
  if (path === "/suite.mjs") return ["text/javascript", readFileSync(new URL("suite.mjs", import.meta.url))]
  if (path === "/vectors.json") return ["application/json", readFileSync(new URL(vectorsUrl))]
  if (/^\/dist\/[\w-]+\.js$/.test(path)) return ["text/javascript", readFileSync(new URL(path.slice(6), dist))]
  return undefined
}

const profile = mkdtempSync(join(tmpdir(), "chromium-"))
let browser
const report = await new Promise((resolve) => {
  const server = createServer((request, response) => {
    if (request.url === "/report") {
      let text = ""
      request.on("data", (chunk) => (text += chunk))
      request.on("end", () => {
        response.end()
        server.close()
        resolve(JSON.parse(text))
      })
      return
    }
    const found = contents(request.url)
    response.writeHead(found ? 200 : 404, { "content-type": found?.[0] ?? "text/plain" })
    response.end(found?.[1])
  })
  server.listen(0, "127.0.0.1", () => {
    browser = spawn(
      chromium,
      [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        `--user-data-dir=${profile}`,
        `http://127.0.0.1:${server.address().port}/`
      ],
      { stdio: "ignore" }
    )
    browser.on("error", (error) => resolve({ cases: 0, failures: [String(error)] }))
    browser.on("exit", (code) => resolve({ cases: 0, failures: [`Chromium ended with ${code} before it reported`] }))
  })
  setTimeout(() => resolve({ cases: 0, failures: ["Chromium did not report within 60 s"] }), 60_000).unref()
})
console.log(JSON.stringify(report))

await new Promise((resolve) => {
  if (browser.exitCode !== null) return resolve()
  browser.removeAllListeners("exit").on("exit", resolve)
  browser.kill()
})
rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
process.exit(report.failures.length === 0 ? 0 : 1)
