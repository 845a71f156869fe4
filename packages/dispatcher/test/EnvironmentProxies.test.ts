import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { makeAuthority } from "./support/certificates.ts"
import { serveHttp, serveHttps, serveRaw } from "./support/servers.ts"

const program = fileURLToPath(new URL("support/proxied.ts", import.meta.url))
const authority = makeAuthority()

/** Node 22.18 and later run TypeScript. The handling of proxies by Node differs between versions. */
const run = async (args: ReadonlyArray<string>, proxy: string) => {
  const env = {
    ...process.env,
    NODE_USE_ENV_PROXY: "1",
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    ALL_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    all_proxy: proxy,
    NO_PROXY: "",
    no_proxy: ""
  }
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=source", program, ...args], { env })
  return JSON.parse(stdout) as unknown
}

describe("Proxies in the environment", () => {
  for (const scheme of ["http", "https"] as const) {
    it(`are not used for ${scheme}:`, async () => {
      const proxy = await serveRaw((socket) => socket.destroy())
      const receiver =
        scheme === "http" ? await serveHttp() : await serveHttps(authority.issue({ names: ["name.test"] }))
      const outcomes = await run(
        [`${scheme}://name.test:${receiver.port}/`, authority.cert],
        `http://127.0.0.1:${proxy.port}`
      )
      assert.deepEqual(outcomes, ["Delivered", "Delivered"])
      assert.strictEqual(proxy.connections, 0)
      assert.strictEqual(receiver.requests.length, 2)
    })
  }
})
