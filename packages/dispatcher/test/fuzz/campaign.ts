/**
 * Runs many cases against the dispatcher, several at once, and reports what must not happen: an uncaught exception, an
 * unhandled rejection, a `send` without a valid outcome, a socket that is left.
 */
import { channel } from "node:diagnostics_channel"
import type { Socket } from "node:net"
import { type DispatcherOptions, makeDispatcher, type Outcome, type PromiseDispatcher } from "@govoice/dispatcher"
import { makeAuthority } from "../support/certificates.ts"
import { faultOf } from "./outcome.ts"
import { type Receiver, startReceiver } from "./receiver.ts"
import { type RequestPlan, scenario } from "./scenario.ts"

export interface Campaign {
  readonly seed: number
  /** The number of the first case. */
  readonly first: number
  readonly cases: number
  /** How many cases run at once. */
  readonly lanes: number
  readonly onProgress?: (done: number) => void
}

export interface Report {
  readonly failures: ReadonlyArray<string>
  /** How many requests ended with each outcome. */
  readonly outcomes: ReadonlyMap<string, number>
  readonly sends: number
  /** Requests whose status was known in advance, and was reported. */
  readonly confirmed: number
}

const deadlineMs = 1_000
/** How much later than its deadline an attempt may end on a busy machine, in milliseconds. */
const slackMs = 10_000
const maxFailures = 20

const variants: ReadonlyArray<DispatcherOptions> = [
  {},
  { maxConnectionsPerTarget: 1 },
  { maxConnectionsPerTarget: 2, maxTargets: 10 },
  { onAttempt: () => {}, onConnect: () => {} }
]

const sleep = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds))

export const runCampaign = async ({ cases, first, lanes, onProgress, seed }: Campaign): Promise<Report> => {
  const failures: Array<string> = []
  const outcomes = new Map<string, number>()
  const running = new Set<number>()
  let sends = 0
  let confirmed = 0
  let next = first

  const fail = (what: string) => {
    if (failures.length < maxFailures) failures.push(what)
  }
  const onFault = (fault: unknown) => {
    const text = fault instanceof Error ? fault.stack : String(fault)
    fail(`uncaught while the cases ${[...running].join(", ")} ran: ${text}`)
  }
  process.on("uncaughtException", onFault)
  process.on("unhandledRejection", onFault)

  const clients = new Set<Socket>()
  const created = channel("net.client.socket")
  const onCreated = (message: unknown) => {
    const { socket } = message as { readonly socket: Socket }
    clients.add(socket)
    socket.once("close", () => clients.delete(socket))
  }
  created.subscribe(onCreated)

  const authority = makeAuthority()
  const certificate = authority.issue({ names: ["*.fuzz.test"] })
  const dispatchers = variants.map((variant) =>
    makeDispatcher({
      allowHttp: true,
      allowNetworks: ["127.0.0.1"],
      deadlineMs,
      resolve: async () => ["127.0.0.1"],
      tls: { ca: authority.cert },
      ...variant
    })
  )
  const receivers: Array<Receiver> = []

  const send = async (
    dispatcher: PromiseDispatcher,
    receiver: Receiver,
    url: string,
    { abortMs, bodyLength, method }: RequestPlan
  ): Promise<void> => {
    sends++
    const signal = abortMs === undefined ? undefined : AbortSignal.timeout(abortMs)
    const body = Buffer.alloc(method === "GET" ? 0 : bodyLength, "b")
    const started = performance.now()
    let outcome: Outcome
    try {
      outcome = await dispatcher.send({ url, method, body }, { signal })
    } catch (error) {
      if (signal === undefined || error !== signal.reason) fail(`${url}: rejected with ${String(error)}`)
      else outcomes.set("aborted", (outcomes.get("aborted") ?? 0) + 1)
      return
    }
    const tookMs = performance.now() - started
    if (tookMs > deadlineMs + slackMs) fail(`${url}: took ${tookMs} ms`)
    const fault = faultOf(outcome)
    if (fault !== undefined) fail(`${url}: ${fault}: ${JSON.stringify(outcome)}`)
    const label = outcome._tag === "Failed" ? `Failed ${outcome.reason}` : outcome._tag
    outcomes.set(label, (outcomes.get(label) ?? 0) + 1)
    const status = receiver.expected(new URL(url).pathname)
    if (status === undefined) return
    const reported = "status" in outcome ? outcome.status : undefined
    if (reported === status) confirmed++
    else if (label !== "Failed timeout") fail(`${url}: answered ${status}: ${JSON.stringify(outcome)}`)
  }

  const runCase = async (number: number, plain: Receiver, secure: Receiver): Promise<void> => {
    const { parallel, requests, secure: overTls } = scenario(seed, number)
    const receiver = overTls ? secure : plain
    const dispatcher = dispatchers[number % dispatchers.length]!
    receiver.begin(number)
    const origin = `${overTls ? "https" : "http"}://c${number}.fuzz.test:${receiver.port}`
    const each = requests.map((plan, index) => () => send(dispatcher, receiver, `${origin}/${number}/${index}`, plan))
    if (parallel) await Promise.all(each.map((run) => run()))
    else for (const run of each) await run()
  }

  const lane = async () => {
    const plain = await startReceiver(seed, undefined)
    const secure = await startReceiver(seed, certificate)
    receivers.push(plain, secure)
    while (next < first + cases && failures.length < maxFailures) {
      const number = next++
      running.add(number)
      await runCase(number, plain, secure)
      running.delete(number)
      onProgress?.(number - first + 1)
    }
  }

  try {
    await Promise.all(Array.from({ length: lanes }, lane))
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.close()))
    const undestroyed = [...clients].filter(({ destroyed }) => !destroyed)
    if (undestroyed.length > 0) fail(`${undestroyed.length} sockets are not destroyed after close`)
    const atReceivers = () => receivers.reduce((count, { open }) => count + open.size, 0)
    const end = performance.now() + 30_000
    while (clients.size + atReceivers() > 0 && performance.now() < end) await sleep(20)
    if (clients.size > 0) fail(`${clients.size} sockets are not closed after close`)
    if (atReceivers() > 0) fail(`${atReceivers()} sockets are left at the receivers`)
  } finally {
    created.unsubscribe(onCreated)
    await Promise.all(receivers.map((receiver) => receiver.close()))
    // An exception of a closed socket is thrown in a later turn.
    await sleep(50)
    process.off("uncaughtException", onFault)
    process.off("unhandledRejection", onFault)
  }
  return { failures, outcomes, sends, confirmed }
}
