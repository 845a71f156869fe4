/** Organizations and their gateway credentials. */
import { assert, describe, it } from "vitest"
import { makePair, type Options as CertificateOptions } from "../../../packages/ksef/test/support/certificates.ts"
import { file as pkcs12 } from "../../../packages/ksef/test/support/pkcs12.ts"
import { problemOf } from "../support/agreement.ts"
import { signUp } from "../support/client.ts"
import { type ApiSuite, codeOf, control, id, record, timestamp } from "./suite.ts"

/** Registers the tests. */
export const testOrganizations = (api: ApiSuite): void => {
  const { call } = api

  describe("organizations", () => {
    it("are created, renamed and shown with exactly the members of the contract", async () => {
      const auth = api.tenant.token
      const made = await call("POST", `${control}/organizations`, { auth, body: { name: "Zażółć Sp. z o.o." } })
      const { created_at, id: organizationId, ...rest } = record(made)
      assert.strictEqual(made.status, 201)
      assert.match(String(organizationId), id("org"))
      assert.match(String(created_at), timestamp)
      assert.deepStrictEqual(rest, {
        object: "organization",
        name: "Zażółć Sp. z o.o.",
        gateway_credential: { present: false, updated_at: null }
      })
      const path = `${control}/organizations/${String(organizationId)}`
      const renamed = await call("PATCH", path, { auth, body: { name: "Renamed" } })
      assert.strictEqual(record(renamed)["name"], "Renamed")
      assert.strictEqual(record(await call("PATCH", path, { auth, body: {} }))["name"], "Renamed")
      assert.deepStrictEqual(record(await call("GET", path, { auth })), record(renamed))
    })

    it("store a credential that no response contains", async () => {
      const auth = api.tenant.token
      const path = `${control}/organizations/${api.tenant.organizationId}`
      const body = { token: "a token of the national system", context: { type: "Nip", value: "5265877635" } }
      assert.strictEqual((await call("PUT", `${path}/gateway-credential`, { auth, body })).status, 204)
      const shown = await call("GET", path, { auth })
      assert.notInclude(shown.text, "national")
      assert.notInclude(shown.text, "5265877635")
      const credential = record(shown)["gateway_credential"] as Record<string, unknown>
      assert.isTrue(credential["present"])
      assert.match(String(credential["updated_at"]), timestamp)
      for (let time = 0; time < 2; time++) {
        assert.strictEqual((await call("DELETE", `${path}/gateway-credential`, { auth })).status, 204)
      }
      const gone = record(await call("GET", path, { auth }))["gateway_credential"]
      assert.deepStrictEqual(gone, { present: false, updated_at: null })
    })

    it("store a certificate for issuing offline whose key no response contains", async () => {
      const auth = api.tenant.token
      const path = `${control}/organizations/${api.tenant.organizationId}/offline-certificate`
      const offline = makePair({ key: "P-256", keyUsage: ["nonRepudiation"], serial: "01f20a5d352ae590" })
      const body = { certificate: offline.certificate, private_key: offline.privateKey }
      assert.strictEqual((await call("PUT", path, { auth, body })).status, 204)
      const shown = await call("GET", path, { auth })
      assert.notInclude(shown.text, "PRIVATE")
      assert.hasAllKeys(
        record(shown),
        "object present environment serial_number subject valid_from valid_until state updated_at".split(" ")
      )
      assert.deepInclude(record(shown), { present: true, serial_number: "01F20A5D352AE590", state: "valid" })
      for (let time = 0; time < 2; time++) assert.strictEqual((await call("DELETE", path, { auth })).status, 204)
      assert.isFalse(record(await call("GET", path, { auth }))["present"])
    })

    it("store a PKCS#12 file for issuing offline, with its password", async () => {
      const auth = api.tenant.token
      const path = `${control}/organizations/${api.tenant.organizationId}/offline-certificate`
      const certificate = pkcs12.toString("base64")
      const wrong = await call("PUT", path, { auth, body: { certificate, private_key_password: "wrong" } })
      assert.deepInclude(problemOf(wrong), { code: "invalid_parameter", param: "private_key_password" })
      const none = await call("PUT", path, { auth, body: { certificate: makePair().certificate } })
      assert.deepInclude(problemOf(none), { code: "invalid_parameter", param: "private_key" })
      const body = { certificate, private_key_password: "zażółć" }
      assert.strictEqual((await call("PUT", path, { auth, body })).status, 204)
      assert.strictEqual(record(await call("GET", path, { auth }))["serial_number"], "01F20A5D352AE590")
    })

    it.each<[what: string, options: CertificateOptions, other: boolean, param: string, message: RegExp]>([
      ["of the type Authentication", { keyUsage: ["digitalSignature"] }, false, "certificate", /of the type Offline/],
      ["that has expired", { until: Date.now() - 1000 }, false, "certificate", /expired/],
      ["with the key of another", {}, true, "private_key", /does not belong/],
      ["with a key on P-384", { key: "P-384" }, false, "private_key", /RSA of 2048 bits nor EC/]
    ])("refuse a certificate %s for issuing offline", async (_, options, isOther, param, message) => {
      const pair = makePair({ key: "P-256", keyUsage: ["nonRepudiation"], ...options })
      const private_key = isOther ? makePair({ key: "rsa" }).privateKey : pair.privateKey
      const answer = await call("PUT", `${control}/organizations/${api.tenant.organizationId}/offline-certificate`, {
        auth: api.tenant.token,
        body: { certificate: pair.certificate, private_key }
      })
      assert.strictEqual(codeOf(answer), "invalid_parameter")
      assert.strictEqual(problemOf(answer).param, param)
      assert.match(problemOf(answer).message, message)
    })

    it.each(["526587763", "52658776355", "5265877636", "526587763a", " 5265877635"])(
      "refuse the tax number %j",
      async (value) => {
        const answer = await call("PUT", `${control}/organizations/${api.tenant.organizationId}/gateway-credential`, {
          auth: api.tenant.token,
          body: { token: "t", context: { type: "Nip", value } }
        })
        assert.strictEqual(codeOf(answer), "invalid_parameter")
        assert.strictEqual(problemOf(answer).param, "context")
      }
    )

    it("are at most 100 of an account, also when they are created concurrently", async () => {
      const { token: auth } = await signUp(call)
      const make = () => call("POST", `${control}/organizations`, { auth, body: { name: "One of many" } })
      const answers = await Promise.all(Array.from({ length: 110 }, make))
      assert.strictEqual(answers.filter(({ status }) => status === 201).length, 99)
      assert.strictEqual(answers.filter((answer) => codeOf(answer) === "limit_reached").length, 11)
    })

    it("have at most 50 active keys, also when they are created concurrently", async () => {
      const auth = api.tenant.token
      const { id: organizationId } = record(
        await call("POST", `${control}/organizations`, { auth, body: { name: "Many keys" } })
      )
      const path = `${control}/organizations/${String(organizationId)}/api-keys`
      const make = () => call("POST", path, { auth, body: { mode: "test" } })
      const answers = await Promise.all(Array.from({ length: 60 }, make))
      assert.strictEqual(answers.filter(({ status }) => status === 201).length, 50)
      assert.strictEqual(answers.filter((answer) => codeOf(answer) === "limit_reached").length, 10)
      const some = String(record(answers.find(({ status }) => status === 201)!)["id"])
      await call("DELETE", `${control}/api-keys/${some}`, { auth })
      assert.strictEqual((await make()).status, 201, "one that is revoked makes room")
      assert.strictEqual(codeOf(await make()), "limit_reached")
    })

    it("have at most 20 endpoints, also when they are created concurrently", async () => {
      const auth = api.tenant.token
      const { id: organizationId } = record(
        await call("POST", `${control}/organizations`, { auth, body: { name: "Many endpoints" } })
      )
      const path = `${control}/organizations/${String(organizationId)}/webhook-endpoints`
      const make = () =>
        call("POST", path, { auth, body: { url: "https://example.com", event_types: ["invoice.accepted"] } })
      const answers = await Promise.all(Array.from({ length: 30 }, make))
      assert.strictEqual(answers.filter(({ status }) => status === 201).length, 20)
      assert.strictEqual(answers.filter((answer) => codeOf(answer) === "limit_reached").length, 10)
      const some = String(record(answers.find(({ status }) => status === 201)!)["id"])
      await call("DELETE", `${control}/webhook-endpoints/${some}`, { auth })
      assert.strictEqual((await make()).status, 201, "one that is deleted makes room")
    })
  })
}
