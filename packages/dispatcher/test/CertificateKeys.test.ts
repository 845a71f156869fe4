/**
 * The certificates of a receiver are read before OpenSSL reads them, which decodes all of their keys. Those with a usual key are
 * passed on, however they arrive, and the others never.
 */
import { assert, describe, it } from "@effect/vitest"
import { generateKeyPairSync, X509Certificate } from "node:crypto"
import * as net from "node:net"
import * as tls from "node:tls"
import { hasUsualKey } from "../src/internal/certificateKeys.ts"
import { makeAuthority } from "./support/certificates.ts"
import { delivered, dispatcher, failed, serveHttps, serveRaw, sleep, stable } from "./support/servers.ts"

const authority = makeAuthority()
const names = ["good.test"]
const good = authority.issue({ names })

const usual = {
  "RSA of 2048 bits": generateKeyPairSync("rsa", { modulusLength: 2048 }),
  "RSA of 4096 bits": generateKeyPairSync("rsa", { modulusLength: 4096 }),
  "RSASSA-PSS": generateKeyPairSync("rsa-pss", { modulusLength: 2048 }),
  "P-384": generateKeyPairSync("ec", { namedCurve: "P-384" }),
  "P-521": generateKeyPairSync("ec", { namedCurve: "P-521" }),
  Ed25519: generateKeyPairSync("ed25519"),
  Ed448: generateKeyPairSync("ed448")
}

// The types of Node have it for PEM and DER alone.
const explicitCurve = { namedCurve: "P-256", paramEncoding: "explicit" } as { namedCurve: string }
const unusual = {
  "a curve of its own": generateKeyPairSync("ec", explicitCurve),
  DSA: generateKeyPairSync("dsa", { modulusLength: 2048, divisorLength: 256 })
}

const ciphers = {
  "TLSv1.2": ["ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"],
  "TLSv1.3": ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"]
}
const suites = (Object.keys(ciphers) as Array<keyof typeof ciphers>).flatMap((version) =>
  ciphers[version].map((suite) => ({ minVersion: version, maxVersion: version, ciphers: suite }))
)

/** Serves what a receiver sends in single bytes. */
const serveBytes = async (port: number): Promise<number> => {
  const front = await serveRaw(() => {}, {
    onConnection: (client) => {
      const behind = net.connect(port, "127.0.0.1").on("error", () => {})
      client.setNoDelay(true).pipe(behind)
      client.once("close", () => behind.destroy())
      const writeBytes = async (chunk: Buffer) => {
        behind.pause()
        for (const byte of chunk) {
          if (client.destroyed) return
          await new Promise((resolve) => client.write(Buffer.from([byte]), resolve))
        }
        behind.resume()
      }
      behind.on("data", (chunk) => void writeBytes(chunk))
    }
  })
  return front.port
}

const makeSend = () => {
  const codes: Array<string | undefined> = []
  const { send } = dispatcher({ tls: { ca: authority.cert }, onAttempt: ({ code }) => codes.push(code) })
  return { codes, toPort: async (port: number) => stable(await send({ url: `https://good.test:${port}/`, body: "" })) }
}

describe("The certificates of a receiver", () => {
  it("are usual if Node trusts them", () => {
    for (const root of tls.rootCertificates) assert.isTrue(hasUsualKey(new X509Certificate(root).raw), root)
  })

  it.each(Object.entries(usual))("have a usual key: %s", async (_, keys) => {
    const certificate = authority.issue({ names, keys })
    assert.isTrue(hasUsualKey(new X509Certificate(certificate.cert).raw))
    for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
      const receiver = await serveHttps({ ...certificate, maxVersion })
      assert.deepEqual(await makeSend().toPort(receiver.port), delivered(), maxVersion)
    }
  })

  it.each(suites)("are read with $ciphers, however they arrive, and not when a session is resumed", async (suite) => {
    const resumed: Array<boolean> = []
    const receiver = await serveHttps({ ...good, ...suite }, (request, response) => {
      resumed.push((request.socket as tls.TLSSocket).isSessionReused())
      response.setHeader("connection", "close").end()
    })
    for (const port of [receiver.port, await serveBytes(receiver.port)]) {
      const { toPort } = makeSend()
      for (let count = 0; count < 2; count++) {
        assert.deepEqual(await toPort(port), delivered())
        await sleep(20)
      }
    }
    assert.deepEqual(resumed, [false, true, false, true])
  })

  it("are read after a second hello, for another group", async () => {
    const receiver = await serveHttps({ ...good, ecdhCurve: "P-521" })
    for (const port of [receiver.port, await serveBytes(receiver.port)]) {
      assert.deepEqual(await makeSend().toPort(port), delivered())
    }
  })

  for (const [kind, keys] of Object.entries(unusual)) {
    const chain = good.cert + authority.issue({ names: ["unusual"], keys }).cert
    it.each(suites)(`are not passed on with a key of ${kind}, with $ciphers`, async (suite) => {
      const receiver = await serveHttps({ ...good, ...suite, cert: chain })
      for (const port of [receiver.port, await serveBytes(receiver.port)]) {
        const { codes, toPort } = makeSend()
        assert.deepEqual(await toPort(port), failed("tls", false))
        assert.deepEqual(codes, ["GOVOICE_HANDSHAKE"])
      }
      assert.lengthOf(receiver.requests, 0)
    })
  }

  it("are unusual if they are cut or no certificates", () => {
    const { raw } = new X509Certificate(good.cert)
    for (let end = 0; end < raw.length; end++) assert.isFalse(hasUsualKey(raw.subarray(0, end)))
    for (const first of [0x30, 0xa0, 0x02]) assert.isFalse(hasUsualKey(Buffer.alloc(500, first)))
  })
})
