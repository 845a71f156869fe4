/**
 * Kills the worker of a deployment in live mode where it calls KSeF, starts another, and checks that each document was
 * accepted exactly once, every invoice is final with its receipt, and each event is there once.
 */
import { type Simulator, startSimulator } from "@govoice/ksef-simulator"
import { randomInt } from "node:crypto"
import { assert } from "vitest"
import { until } from "./deployment.ts"
import { type KillPoint, startKsefProxy } from "./ksefProxy.ts"
import type { Faults } from "./support.ts"

export const document = (seller: string, number: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<Faktura xmlns="http://crd.gov.pl/wzor/2025/06/25/13775/"><Naglowek><KodFormularza kodSystemowy="FA (3)" wersjaSchemy="1-0E">FA</KodFormularza><WariantFormularza>3</WariantFormularza><DataWytworzeniaFa>2026-11-20T08:00:00Z</DataWytworzeniaFa></Naglowek><Podmiot1><DaneIdentyfikacyjne><NIP>${seller}</NIP><Nazwa>Seller</Nazwa></DaneIdentyfikacyjne><Adres><KodKraju>PL</KodKraju><AdresL1>ul. Testowa 1</AdresL1></Adres></Podmiot1><Podmiot2><DaneIdentyfikacyjne><NIP>5260250274</NIP><Nazwa>Buyer</Nazwa></DaneIdentyfikacyjne><JST>2</JST><GV>2</GV></Podmiot2><Fa><KodWaluty>PLN</KodWaluty><P_1>2026-11-20</P_1><P_2>${number}</P_2><P_13_1>100.00</P_13_1><P_14_1>23.00</P_14_1><P_15>123.00</P_15><Adnotacje><P_16>2</P_16><P_17>2</P_17><P_18>2</P_18><P_18A>2</P_18A><Zwolnienie><P_19N>1</P_19N></Zwolnienie><NoweSrodkiTransportu><P_22N>1</P_22N></NoweSrodkiTransportu><P_23>2</P_23><PMarzy><P_PMarzyN>1</P_PMarzyN></PMarzy></Adnotacje><RodzajFaktury>VAT</RodzajFaktury><FaWiersz><NrWierszaFa>1</NrWierszaFa><P_7>Service</P_7><P_8A>szt.</P_8A><P_8B>1</P_8B><P_9A>100.00</P_9A><P_11>100.00</P_11><P_12>23</P_12></FaWiersz></Fa></Faktura>
`

/** More than an interactive session may send within a minute, so that they go as a batch. */
export const batchSize = 40

/** A credential of the simulator's taxpayer, as the API takes it. */
export const credentialOf = ({ certificate, token }: Simulator, kind: "token" | "certificate") =>
  kind === "token"
    ? { token }
    : ({ type: "certificate", certificate: certificate.certificate, private_key: certificate.privateKey } as const)

/** Runs one kill point. */
export const runKillPoint = async (
  faults: Faults,
  point: KillPoint,
  documents: number,
  kind: "token" | "certificate" = "token",
  {
    isAtStop = false,
    isCorrection = false,
    isOffline = false
  }: {
    readonly isAtStop?: boolean
    readonly isOffline?: boolean
    /** Each corrects one technically that was rejected before. */
    readonly isCorrection?: boolean
  } = {}
): Promise<void> => {
  const { deployment } = faults
  const left = () =>
    deployment.count("invoices WHERE mode = 'live' AND NOT upo_available AND status NOT IN ('rejected', 'failed')")
  const isDone = async () => (await left()) === 0
  const ksef = await startSimulator({ processingMs: 0, seed: String(randomInt(1_000_000)) })
  const proxy = await startKsefProxy(ksef.url)
  try {
    const live = { GOVOICE_LIVE_MODE: "true", GOVOICE_KSEF_URL: proxy.url }
    await deployment.startApi(live)
    const pair = ksef.issueCertificate({ nip: ksef.nip, kind: "offline" })
    const { key } = await deployment.liveOrganization({
      context: ksef.nip,
      ...credentialOf(ksef, kind),
      offline: { certificate: pair.certificate, private_key: pair.privateKey }
    })
    const invoicing_mode = isOffline ? "offline" : "online"
    const submit = (xml: string, members: Readonly<Record<string, string>> = {}) =>
      deployment.submit(key, "accepted", xml, { invoicing_mode, ...members })
    const rejected = isCorrection ? documents : 0
    const corrected: Array<string> = []
    if (isCorrection) {
      ksef.faults.add({ do: "verdict", code: 450, times: rejected })
      for (let index = 0; index < rejected; index++) {
        corrected.push(await submit(document(ksef.nip, `FV/${index}`).replace("Service", "Sevrice")))
      }
      const first = await deployment.startWorker(live)
      await until("the rejection of every invoice", isDone, 240_000)
      await first.stop()
    }
    for (let index = 0; index < documents; index++) {
      const id = corrected[index]
      await submit(document(ksef.nip, `FV/${index}`), id === undefined ? {} : { corrects_invoice_id: id })
    }
    const codes = () => deployment.pool.query("SELECT id, certificate_url, send_by FROM invoices ORDER BY id")
    const issued = (await codes()).rows
    const reached = proxy.arm(point)
    const worker = await deployment.startWorker(live)
    worker.mayCrash = true
    if (isAtStop) {
      await until("the receipt of every invoice", isDone, 240_000)
      worker.child.kill("SIGTERM")
    }
    await reached
    await worker.kill()

    const successor = await deployment.startWorker(live)
    await until("the receipt of every invoice", isDone, 240_000).catch(async (error: unknown) => {
      const { rows } = await deployment.pool.query("SELECT * FROM national_submissions LIMIT 5")
      throw new Error(`${String(error)} ${JSON.stringify(rows)} ${successor.text}`)
    })
    const openSessions = () => deployment.count("national_sessions WHERE state NOT IN ('done', 'abandoned')")
    // The successor closes the sessions of the dead, and its own when it stops.
    if (isAtStop) await until("the end of the session", async () => (await openSessions()) === 0, 60_000)
    await successor.stop()
    assert.strictEqual(await openSessions(), 0)

    const accepted = ksef.ledger.accepted()
    assert.lengthOf(accepted, documents)
    assert.lengthOf(new Set(accepted.map(({ sha256 }) => sha256)), documents)
    assert.strictEqual(await deployment.count("invoices WHERE mode = 'live' AND status = 'accepted'"), documents)
    assert.strictEqual(await deployment.count("receipts"), documents)
    // The buyers have the codes: they are the same after every death.
    assert.deepStrictEqual((await codes()).rows, issued)
    if (isOffline) assert.strictEqual(await deployment.count("invoices WHERE official_mode = 'offline'"), documents)
    assert.strictEqual(await deployment.count("invoices WHERE status = 'rejected'"), rejected)
    const events = documents * 4 + rejected * 3
    assert.strictEqual(await deployment.count("events"), events)
    assert.strictEqual(
      await deployment.count("(SELECT DISTINCT invoice_id, type FROM events) AS distinct_events"),
      events
    )
    assert.strictEqual(await deployment.count("national_submissions WHERE state = 'sending'"), 0)
    assert.strictEqual(ksef.ledger.overLimit, 0)
  } finally {
    await proxy.close()
    await ksef.close()
  }
}

const session = String.raw`\d{8}-S[OB]-[0-9A-F-]+`
const points = (
  name: string,
  method: string,
  path: RegExp,
  documents: number,
  kind: "token" | "certificate" = "token"
) =>
  (["in-flight", "answered"] as const).map((at) => ({
    name,
    documents,
    kind,
    isAtStop: false,
    isOffline: false,
    isCorrection: false,
    point: { method, path, at }
  }))

const all = [
  // The first, because a document that may still arrive is not sent again for more than a minute.
  ...points("the sending of a document", "POST", new RegExp(`/sessions/online/${session}/invoices$`), 2),
  ...points("the challenge", "POST", /\/auth\/challenge$/, 1),
  ...points("the login", "POST", /\/auth\/ksef-token$/, 1),
  ...points("the login with a certificate", "POST", /\/auth\/xades-signature$/, 1, "certificate"),
  ...points("the redemption of tokens", "POST", /\/auth\/token\/redeem$/, 1),
  ...points("the opening of a session", "POST", /\/sessions\/online$/, 1),
  ...points("the poll for a verdict", "GET", new RegExp(`/sessions/${session}/invoices/[^/]+$`), 2),
  ...points("the request for a receipt", "GET", /\/upo(?:[/?]|$)/, 2),
  ...points("the closing of a session", "POST", new RegExp(`/sessions/online/${session}/close$`), 1).map((point) => ({
    ...point,
    isAtStop: true
  })),
  ...points("the opening of a batch", "POST", /\/sessions\/batch$/, batchSize),
  ...points("the upload of a batch", "PUT", /./, batchSize),
  ...points("the closing of a batch", "POST", new RegExp(`/sessions/batch/${session}/close$`), batchSize),
  ...points("the poll for a batch", "GET", new RegExp(`/sessions/${session}$`), batchSize),
  ...points("the list of a batch", "GET", new RegExp(`/sessions/${session}/invoices(?:\\?|$)`), batchSize),
  ...points("the download of a receipt of a batch", "GET", /\/storage\/upo\//, batchSize)
]

const sending = ["the sending of a document", "the opening of a batch", "the closing of a batch"]

/**
 * Every call of the interactive route and of a batch, before it arrives and after it was answered; those that send documents also
 * with some that were issued offline, and one by one with technical corrections.
 */
export const killPoints = [
  ...all,
  ...all
    .filter(({ name }) => sending.includes(name))
    .map((one) => ({ ...one, name: `${one.name} issued offline`, isOffline: true })),
  ...all
    .filter(({ name }) => name === sending[0])
    .map((one) => ({ ...one, name: "the sending of a technical correction", isOffline: true, isCorrection: true }))
]

/** Those that the suite runs: the answer to the sending of a document is lost. */
export const isInSuite = ({ name, point }: (typeof killPoints)[number]): boolean =>
  point.at === "answered" && name.startsWith(sending[0]!)

/**
 * Short tests leave out what the suite runs. Of those that send no document, they leave out the answer that nobody reads: it is
 * asked for again.
 */
export const isRepresentative = (one: (typeof killPoints)[number]): boolean =>
  !isInSuite(one) && (one.point.at === "in-flight" || sending.includes(one.name))
