/** Mistakes in the control plane: accounts, logins, keys and webhook endpoints. */
import { createHmac, randomUUID } from "node:crypto"
import { createControlPlane, createTokenSession, listOrganizations } from "../../../../packages/client/src/index.ts"
import { password } from "../client.ts"
import { secrets } from "../server.ts"
import { fails, type Mistake } from "./Mistake.ts"

interface Service {
  readonly url: string
  readonly email: string
  readonly accessToken: string
  readonly organizationId: string
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")

// The token, as the server signed it twenty minutes ago.
const expired = (token: string): string => {
  const claims = JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString()) as { exp: number; iat: number }
  const old = { ...claims, exp: claims.exp - 1200, iat: claims.iat - 1200 }
  const signed = `${token.split(".")[0]}.${encode(old)}`
  return `${signed}.${createHmac("sha256", secrets.GOVOICE_JWT_SECRET).update(signed).digest("base64url")}`
}

export const accountMistakes = (service: () => Service): ReadonlyArray<Mistake> => {
  const visitor = () => createControlPlane({ baseUrl: service().url, maxRetries: 0 })
  const owner = async () => {
    const controlPlane = visitor()
    await controlPlane.login({ email: service().email, password })
    return controlPlane
  }
  const organizationsWith = (token: string) =>
    listOrganizations(
      createTokenSession({
        baseUrl: service().url,
        accessToken: () => token,
        renew: () => Promise.resolve(false),
        maxRetries: 0
      })
    ).page()
  const endpoint =
    (url: string, eventTypes: ReadonlyArray<string> = ["*"]) =>
    async () =>
      (await owner()).webhookEndpoints.create(service().organizationId, { url, eventTypes: eventTypes as never })

  return [
    fails("A short password", () =>
      visitor().accounts.create({ email: `${randomUUID()}@example.com`, password: "secret" })
    ),
    fails("An email that is none", () => visitor().accounts.create({ email: "owner", password })),
    fails("An email that has an account", () => visitor().accounts.create({ email: service().email, password })),
    fails("A wrong password", () => visitor().login({ email: service().email, password: `${password}!` })),
    fails("A call before the login", () => visitor().organizations.list().page()),
    fails("An access token that has expired", () => organizationsWith(expired(service().accessToken))),
    fails("An organization without a name", async () => (await owner()).organizations.create({} as never)),
    fails("The id of no organization", async () =>
      (await owner()).apiKeys.create("org_01m7q5cqg0e6786ptds43fm4k3", { mode: "test" })
    ),
    fails("A mode that does not exist", async () =>
      (await owner()).apiKeys.create(service().organizationId, { mode: "production" as never })
    ),
    fails("A webhook endpoint at `http://localhost:4000`", endpoint("http://localhost:4000/webhooks")),
    fails("A webhook endpoint at `https://localhost`", endpoint("https://localhost/webhooks")),
    fails("A webhook endpoint at a private address", endpoint("https://192.168.1.20/webhooks")),
    fails("A webhook endpoint with a password", endpoint("https://user:password@example.com/webhooks")),
    fails("A webhook endpoint without a scheme", endpoint("example.com/webhooks")),
    fails("An event type that does not exist", endpoint("https://example.com/webhooks", ["invoice.paid"])),
    fails("An endpoint without event types", endpoint("https://example.com/webhooks", [])),
    fails("One endpoint too many", async () => {
      const { webhookEndpoints } = await owner()
      const request = { url: "https://example.com/webhooks", eventTypes: ["*"], enabled: false } as const
      for (let created = 0; created < 1000; created++) await webhookEndpoints.create(service().organizationId, request)
    })
  ]
}
