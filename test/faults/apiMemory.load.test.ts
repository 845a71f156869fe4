/** The memory of an API process under the most expensive requests of a few accounts, beside the limit of the shipped pod. */
import { readFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { freePort } from "../support/freePort.ts"
import { startPostgres } from "../support/postgres.ts"
import { Deployment, sleep } from "./deployment.ts"

const manifest = readFileSync(join(import.meta.dirname, "../../apps/server/kubernetes/api.yaml"), "utf8")
const limitMiB = Number(/limits: \{ memory: (\d+)Mi \}/.exec(manifest)![1])

// What the image sets, and half of the memory for the heap, as V8 takes it in a pod.
const environment = {
  NODE_OPTIONS: `--max-semi-space-size=32 --max-old-space-size=${limitMiB / 2}`,
  MALLOC_ARENA_MAX: "1"
}

const accounts = 6

// As JSON, each character has six bytes.
const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`key${index}`, "\u0001".repeat(500)]))

// About as many different words as are drawn.
const words = Array.from({ length: 48_000 }, (_, index) =>
  String.fromCodePoint(0x100 + (index >> 8), 0x100 + (index & 0xff))
)
const notes = Array.from({ length: 40 }, (_, index) => words.slice(index * 1200, (index + 1) * 1200).join(" "))
const manyWords = `<Faktura xmlns="http://crd.gov.pl/wzor/2025/06/25/13775/">
  <Podmiot1><DaneIdentyfikacyjne><NIP>5265877635</NIP></DaneIdentyfikacyjne></Podmiot1>
  <Fa><P_1>2026-11-20</P_1><P_2>FV/2026/11/1</P_2></Fa>
  <Stopka>${notes.map((note) => `<Informacje><StopkaFaktury>${note}</StopkaFaktury></Informacje>`).join("")}</Stopka>
</Faktura>`

const largestBody = JSON.stringify({ invoice_xml: "a".repeat(3_900_000) })

const peakMiB = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024

describe.skipIf(process.platform !== "linux")("an API process", () => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>
  let deployment: Deployment

  beforeAll(async () => {
    postgres = await startPostgres()
    deployment = new Deployment(postgres.url)
  })
  afterAll(async () => {
    await deployment.close()
    await postgres.remove()
  })

  it("has room in its pod for pages of large metadata that are read slowly, large bodies, and PDFs of many words", async () => {
    const port = String(await freePort())
    const api = await deployment.startApi({ ...environment, PORT: port })
    const url = `http://127.0.0.1:${port}/v1/invoices`
    const keys: Array<string> = []
    while (keys.length < accounts) keys.push((await deployment.organization([])).key)
    const post = (key: string, id: string, body: string) =>
      fetch(url, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "idempotency-key": id },
        body
      }).then((answer) => answer.text())
    const invoice = JSON.stringify({ invoice_xml: "<Faktura/>", metadata })
    for (const key of keys) {
      for (let n = 0; n < 100; n += 20) {
        await Promise.all(Array.from({ length: 20 }, (_, index) => post(key, String(n + index), invoice)))
      }
    }
    const drawn = new Map<string, string>()
    for (const key of keys) {
      const { id } = JSON.parse(await post(key, "many words", JSON.stringify({ invoice_xml: manyWords }))) as {
        id: string
      }
      drawn.set(key, `${url}/${id}/pdf`)
    }
    const get = (key: string, from: string) =>
      fetch(from, { headers: { authorization: `Bearer ${key}` } }).then((answer) => answer.arrayBuffer())
    const pdf = Buffer.from(await get(keys[0]!, drawn.get(keys[0]!)!))
    assert.strictEqual(pdf.toString("latin1", 0, 5), "%PDF-")

    const over = new AbortController()
    const repeat = async (send: () => Promise<unknown>) => {
      while (!over.signal.aborted) await send().catch(() => sleep(100))
    }
    const under = keys.flatMap((key) => [
      ...Array.from({ length: 6 }, () => repeat(() => get(key, `${url}?limit=100`))),
      ...Array.from({ length: 3 }, () => repeat(() => get(key, drawn.get(key)!))),
      ...Array.from({ length: 4 }, () => repeat(() => post(key, "large", largestBody)))
    ])
    const silent = keys.flatMap((key) =>
      Array.from({ length: 10 }, () => {
        const socket = connect(Number(port), "127.0.0.1").on("error", () => {})
        socket.write(`GET /v1/invoices?limit=100 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`)
        return socket.pause()
      })
    )
    await sleep(25_000)
    over.abort()
    const peak = peakMiB(api.child.pid!)
    for (const socket of silent) socket.destroy()
    await Promise.all(under)
    console.info(`${Math.round(peak)} MiB of ${limitMiB}`)
    assert.isBelow(peak, limitMiB)
  })
})
