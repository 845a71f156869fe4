/**
 * Every operation of the document, as a client meets it: the simulator carries it out, or says that it does not.
 */
import { assert, describe, it } from "vitest"
import { readDocument } from "../../src/openapi/document.ts"
import { Router } from "../../src/openapi/Router.ts"
import { Client } from "../support/Client.ts"
import { start } from "../support/simulator.ts"

const { operations } = new Router(readDocument())

const pathOf = (key: string): readonly [method: string, path: string] => {
  const [method = "", path = ""] = key.split(" ")
  return [method, path.replaceAll(/\{\w+\}/g, "20261122-XX-0000000000-0000000000-00")]
}

describe("the operations of the document", () => {
  it("are a 501 that names them if the simulator does not implement them, and no other is", async () => {
    const simulator = await start({ limits: "off" })
    const client = await Client.login(simulator)
    const outside = operations.filter(({ name }) => name === undefined)
    assert.isAbove(outside.length, 20)
    for (const { key } of outside) {
      const [method, path] = pathOf(key)
      const answer = await client.call(method, path, method === "POST" ? { body: {} } : {})
      assert.strictEqual(answer.status, 501, key)
      assert.include(answer.json.detail, `The simulator does not carry out ${key}.`)
      assert.strictEqual(answer.headers.get("content-type"), "application/problem+json")
    }
    for (const { key, name } of operations.filter((one) => one.name !== undefined)) {
      const [method, path] = pathOf(key)
      const answer = await client.call(method, path, method === "POST" ? { body: {} } : {})
      assert.notInclude([404, 405, 500, 501], answer.status, `${name} ${key} ${answer.text}`)
    }
  })

  it("are a 401 without a bearer if they need one", async () => {
    const simulator = await start({ limits: "off" })
    const client = new Client(simulator)
    for (const { definition, key, name } of operations) {
      if (name === undefined || definition.security === undefined) continue
      const [method, path] = pathOf(key)
      const answer = await client.call(method, path, method === "POST" ? { body: {} } : {})
      assert.deepStrictEqual(
        [answer.status, answer.headers.get("content-type")],
        [401, "application/problem+json"],
        key
      )
    }
  })

  it("have /testdata in the test environment only", async () => {
    const simulator = await start({ environment: "prod" })
    const client = await Client.login(simulator)
    for (const { key } of operations.filter((one) => one.key.includes(" /testdata/"))) {
      const [method, path] = pathOf(key)
      const expected = operations.find((one) => one.key === key)?.name === undefined ? 501 : 404
      const answer = await client.call(method, path, method === "POST" ? { body: {} } : {})
      assert.strictEqual(answer.status, expected, key)
    }
  })
})
