/**
 * Searches what a client logs and throws for its secrets.
 */
import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import type { KsefClient } from "@govoice/ksef/client"
import { SealedDocument, SessionKey } from "@govoice/ksef/crypto"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { failure, serveHttp, serveRaw, withClient } from "../support/servers.ts"

type Client = KsefClient.KsefClient

const accessToken = Redacted.make("SECRET-access")
const document = SealedDocument.seal(SessionKey.generate(), Buffer.from("<Faktura/>"))
const session = "20250625-SO-2C3E6C8000-B675CF5D68-07"

const send = (client: Client) => client.send({ accessToken, session, document })
const at = (port: number) => `http://127.0.0.1:${port}/v2`

describe("the secrets of KsefClient", () => {
  it("are in no error and in no log, however a call ends", async () => {
    const echo = await serveHttp((response, request) => {
      const said = `${request.headers.authorization ?? ""} ${request.body.toString()}`
      response.writeHead(400).end(said)
    })
    const broken = await serveRaw((socket, received) => {
      if (received.includes("\r\n\r\n")) socket.destroy()
    })
    const ok = await serveHttp((response) =>
      response.end(
        JSON.stringify({
          accessToken: { token: "SECRET-1", validUntil: "2027-01-01T00:00:00Z" },
          refreshToken: { token: "SECRET-2", validUntil: "2027-01-01T00:00:00Z" }
        })
      )
    )
    const link = Redacted.make("http://127.0.0.1:9/SECRET-path?sig=SECRET")
    const follow = (client: Client) => Effect.ignore(client.downloadUpo(link))
    const runs: ReadonlyArray<(client: Client) => Effect.Effect<unknown>> = [
      (client) => Effect.ignore(client.redeem(Redacted.make("SECRET-authentication"))),
      (client) => Effect.ignore(client.refresh(Redacted.make("SECRET-refresh"))),
      (client) => Effect.ignore(client.loginWithXades("<a>SECRET</a>")),
      (client) => Effect.ignore(send(client)),
      follow
    ]
    for (const { port } of [echo, broken, ok]) {
      for (const run of runs) {
        const printed: Array<string> = []
        const { logs } = await withClient({ url: at(port) }, (client) =>
          run(client).pipe(Effect.tap((value) => Effect.sync(() => printed.push(inspect(value, { depth: null })))))
        )
        if (run !== follow) assert.isNotEmpty(logs)
        assert.notInclude(logs.map(({ text }) => text).join("\n") + printed.join("\n"), "SECRET")
      }
    }
    const error = await failure({ url: at(echo.port) }, send)
    assert.notInclude(inspect(error, { depth: null, showHidden: true }) + JSON.stringify(error), "SECRET")
  })
})
