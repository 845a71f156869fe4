/**
 * Test runners load and use the packages: Jest in both module systems and in jsdom, Vitest in jsdom.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { makeProject, type Project } from "../packaging/support/project.ts"
import { load, works } from "./support/program.ts"
import { type Service, startService } from "./support/service.ts"

// Jest's jsdom has no `fetch`.
const fetchOfNode = `
const fetch = (url, { method, headers, body }) =>
  new Promise((resolve, reject) => {
    const request = require("node:http").request(url, { method, headers }, async (response) => {
      let text = ""
      for await (const chunk of response) text += chunk
      const status = response.statusCode
      resolve({ ok: status < 300, status, headers: { get: (name) => response.headers[name] ?? null }, text: async () => text })
    })
    request.on("error", reject).end(body)
  })
`

const loading = (url: string) => ({
  "node.test.js": `${load("cjs", url)}
test("works", async () => expect(await use(webhooks, client)).toBe("${works}"))`,
  "esm.test.mjs": `${load("esm", url)}
test("works", async () => expect(await use(webhooks, client)).toBe("${works}"))`,
  "jsdom.test.js": `${load("cjs", url)}${fetchOfNode}
test("works", async () => expect(await use(webhooks, client, { fetch })).toBe("${works}"))
test("runs in jsdom", () => expect(typeof document).toBe("object"))`,
  "vitest.spec.mjs": `import { expect, test } from "vitest"
${load("esm", url)}
test("works", async () => expect(await use(webhooks, client)).toBe("${works}"))
test("runs in jsdom", () => expect(typeof document).toBe("object"))`
})

describe("Test runners", () => {
  let service: Service
  let project: Project
  beforeAll(async () => {
    service = await startService()
    project = makeProject({
      packages: ["@govoice/client", "@govoice/webhooks"],
      others: {
        jest: "30.5.2",
        "jest-environment-jsdom": "30.5.2",
        vitest: "5.1.1",
        vite: "8.3.8",
        jsdom: "31.0.1"
      }
    })
    project.write("jest.config.js", 'module.exports = { testMatch: ["**/*.test.*js"], transform: {} }')
    for (const [name, text] of Object.entries(loading(service.url))) project.write(name, text)
  })
  afterAll(() => {
    service?.close()
    project?.remove()
  })

  const jest = (...args: ReadonlyArray<string>) =>
    project.execute(process.execPath, ["--experimental-vm-modules", "node_modules/jest/bin/jest.js", "--ci", ...args])

  it("Jest requires them in its default mode", async () => {
    await project.execute(process.execPath, ["node_modules/jest/bin/jest.js", "--ci", "node.test.js"])
  })

  it("Jest imports them as ECMAScript modules", async () => {
    await jest("esm.test.mjs")
  })

  it("Jest requires them in jsdom, which has neither TextEncoder nor fetch", async () => {
    await project.execute(process.execPath, [
      "node_modules/jest/bin/jest.js",
      "--ci",
      "--env",
      "jsdom",
      "jsdom.test.js"
    ])
  })

  it("Vitest imports them in jsdom", async () => {
    const run = ["node_modules/vitest/vitest.mjs", "run", "--environment", "jsdom", "vitest.spec.mjs"]
    assert.match(await project.execute(process.execPath, run), /2 passed/)
  })
})
