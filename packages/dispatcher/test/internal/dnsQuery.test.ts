import { createSocket } from "node:dgram"
import { assert, describe, it } from "vitest"
import { codeOf } from "../../src/internal/classify.ts"
import { nameServers, queryAddresses } from "../../src/internal/dnsQuery.ts"
import { cleanup } from "../support/servers.ts"

/** A name server that answers with any bytes. */
const serve = async (answer: (query: Buffer) => ReadonlyArray<Buffer>) => {
  const socket = createSocket("udp4")
  socket.on("message", (query, from) => {
    for (const message of answer(query)) socket.send(message, from.port, from.address)
  })
  await new Promise<void>((done) => socket.bind(0, "127.0.0.1", done))
  cleanup(() => new Promise<void>((done) => socket.close(done)))
  return `127.0.0.1:${socket.address().port}`
}

const name = "name.test"
const questionEnd = 12 + name.length + 2 + 4
const isAbandoned = () => false
const ask = (servers: ReadonlyArray<string>, family: "A" | "AAAA" = "A", timeoutMs = 500, tries = 1) =>
  queryAddresses(name, family, { servers: nameServers(servers), timeoutMs, tries, isAbandoned }).catch(codeOf)

/** The answer to a query, with a flag byte, a response code and records. */
const answerTo = (query: Buffer, records: ReadonlyArray<Buffer>, flags = 0x81, rcode = 0): Buffer => {
  const header = Buffer.from([query[0]!, query[1]!, flags, 0x80 | rcode, 0, 1, 0, records.length, 0, 0, 0, 0])
  return Buffer.concat([header, query.subarray(12, questionEnd), ...records])
}
const record = (type: number, ...data: ReadonlyArray<number>): Buffer =>
  Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length, ...data])
const one = record(1, 192, 0, 2, 1)

describe("a query for addresses", () => {
  it("reads the records of its family, whatever others there are", async () => {
    const alias = record(5, 1, 0x61, 0)
    const six = record(28, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)
    const server = await serve((query) => [answerTo(query, [alias, one, six, record(1, 192, 0, 2, 2)])])
    assert.deepEqual(await ask([server]), ["192.0.2.1", "192.0.2.2"])
    assert.deepEqual(await ask([server], "AAAA"), ["2001:db8::1"])
  })

  it("uses the addresses that one packet has, without asking by TCP, and fails where it has none", async () => {
    const truncated = await serve((query) => [answerTo(query, [one], 0x83)])
    assert.deepEqual(await ask([truncated]), ["192.0.2.1"])
    const large = await serve((query) => [answerTo(query, Array<Buffer>(80).fill(one))])
    assert.lengthOf(await ask([large]), 75)
    const empty = await serve((query) => [answerTo(query, [], 0x83)])
    assert.strictEqual(await ask([empty]), "GOVOICE_TRUNCATED")
    assert.deepEqual(await ask([empty, truncated]), ["192.0.2.1"])
  })

  it("asks again without EDNS where the server does not know it", async () => {
    for (const repeats of [true, false]) {
      const server = await serve((query) => {
        const formatError = answerTo(query, [], 0x81, 1)
        if (!repeats) formatError[5] = 0
        return [query[11] === 1 ? (repeats ? formatError : formatError.subarray(0, 12)) : answerTo(query, [one])]
      })
      assert.deepEqual(await ask([server], "A", 500, 2), ["192.0.2.1"])
    }
    // Some networks drop such questions.
    const silent = await serve((query) => (query[11] === 1 ? [] : [answerTo(query, [one])]))
    assert.deepEqual(await ask([silent], "A", 50, 2), ["192.0.2.1"])
  })

  it("ignores answers to other questions, and a question that comes back", async () => {
    const server = await serve((query) => {
      const [otherId, otherName] = [answerTo(query, [one]), answerTo(query, [one])]
      otherId[0]! ^= 1
      otherName[13]! ^= 1
      return [query, otherId, otherName, Buffer.alloc(0), answerTo(query, [record(1, 192, 0, 2, 9)])]
    })
    assert.deepEqual(await ask([server]), ["192.0.2.9"])
  })

  it("goes on with the next server where one fails, refuses or is not there", async () => {
    const closed = createSocket("udp4")
    await new Promise<void>((done) => closed.bind(0, "127.0.0.1", done))
    const nobody = `127.0.0.1:${closed.address().port}`
    await new Promise<void>((done) => closed.close(done))
    const failing = await serve((query) => [answerTo(query, [], 0x81, 2)])
    const refusing = await serve((query) => [answerTo(query, [], 0x81, 5)])
    const good = await serve((query) => [answerTo(query, [one])])
    assert.deepEqual(await ask([nobody, failing, refusing, good]), ["192.0.2.1"])
    assert.strictEqual(await ask([refusing, failing]), "ESERVFAIL")
    assert.strictEqual(await ask([nobody]), "ETIMEOUT")
    // A link-local address without its interface, and one of broadcasts: the connection itself fails.
    assert.deepEqual(await ask(["fe80::1", "255.255.255.255", good]), ["192.0.2.1"])
  })

  it("asks no further server once nobody waits", async () => {
    const asked: Array<string> = []
    const servers = await Promise.all(
      ["first", "second"].map((which) => serve((query) => (asked.push(which), [answerTo(query, [], 0x81, 2)])))
    )
    const options = { servers: nameServers(servers), timeoutMs: 500, tries: 2, isAbandoned: () => true }
    assert.strictEqual(await queryAddresses(name, "A", options).catch(codeOf), "ESERVFAIL")
    assert.deepEqual(asked, ["first"])
  })

  it("fails for an answer that ends anywhere or has any other byte, and for nothing else", async () => {
    const whole = (query: Buffer) => answerTo(query, [record(5, 1, 0x61, 0), one])
    const length = whole(Buffer.alloc(questionEnd)).length
    const seen = new Set<string>()
    for (let at = 0; at < length; at++) {
      const cut = await serve((query) => [whole(query).subarray(0, at)])
      const changed = await serve((query) => {
        const message = whole(query)
        message[at]! ^= 0xff
        return [message]
      })
      for (const answer of await Promise.all([ask([cut], "A", 50), ask([changed], "A", 50)])) {
        seen.add(typeof answer === "string" ? answer : "addresses")
      }
    }
    const codes = ["EBADRESP", "ENODATA", "ETIMEOUT", "addresses"]
    assert.sameMembers([...seen], codes)
  })

  it("asks for no name that cannot exist", async () => {
    const asked = { servers: nameServers(["127.0.0.1:9"]), timeoutMs: 50, tries: 1, isAbandoned }
    for (const wrong of ["", "a..test", `${"a".repeat(64)}.test`, `${"a.".repeat(130)}test`, "ż.test", "a b.test"]) {
      assert.strictEqual(await queryAddresses(wrong, "A", asked).catch(codeOf), "EBADNAME", wrong)
    }
    assert.throws(() => nameServers(["name.test"]), TypeError)
    assert.deepEqual(nameServers(["::1", "fe80::1%lo", "[::1]:54", "192.0.2.1", "192.0.2.1:54"]), [
      { address: "::1", port: 53 },
      { address: "fe80::1%lo", port: 53 },
      { address: "::1", port: 54 },
      { address: "192.0.2.1", port: 53 },
      { address: "192.0.2.1", port: 54 }
    ])
  })
})
