/** Measures every variant, in rounds. */
import { fork } from "node:child_process"
import { join } from "node:path"
import { makeVariants, type Variant } from "./variants.ts"

export interface Measured {
  readonly name: string
  readonly rounds: ReadonlyArray<{
    readonly perSecond: number
    readonly cpuMicros: number
    readonly newSockets: number
  }>
}

interface Settings {
  readonly scheme: "http" | "https"
  readonly certificate: { readonly cert: string; readonly key: string }
  readonly ca: string
  readonly inFlight: number
  readonly bodyBytes: number
  readonly rounds: number
  readonly roundMs: number
}

const next = <A>(emitter: NodeJS.Process | ReturnType<typeof fork>): Promise<A> =>
  new Promise((resolve) => emitter.once("message", resolve as (message: unknown) => void))

const settings = await next<Settings>(process)
const { bodyBytes, inFlight, roundMs, rounds, scheme } = settings

const server = fork(join(import.meta.dirname, "server.ts"))
server.send({ scheme, certificate: settings.certificate })
const { port } = await next<{ port: number }>(server)

const connections = async (): Promise<number> => {
  server.send("count")
  return (await next<{ connections: number }>(server)).connections
}

/** Keeps `inFlight` requests in flight for some time. Returns how many ended. */
const drive = async ({ work }: Variant, milliseconds: number): Promise<number> => {
  const until = performance.now() + milliseconds
  const done = await Promise.all(Array.from({ length: inFlight }, () => work(until)))
  return done.reduce((sum, count) => sum + count, 0)
}

const body = JSON.stringify({ id: "evt_1", data: "x".repeat(bodyBytes - 24) })
const variants = makeVariants({ scheme, port, ca: settings.ca, inFlight, body })
const results = new Map(variants.map(({ name }) => [name, [] as Array<Measured["rounds"][number]>]))

for (let round = 0; round < rounds; round++) {
  const turned = round % 2 === 0 ? variants : variants.toReversed()
  for (const variant of turned) {
    // Opens the sockets again that were closed during the other variants.
    await drive(variant, round === 0 ? 1_000 : 400)
    const before = await connections()
    const cpu = process.cpuUsage()
    const started = performance.now()
    const done = await drive(variant, roundMs)
    const seconds = (performance.now() - started) / 1_000
    const { system, user } = process.cpuUsage(cpu)
    results.get(variant.name)!.push({
      perSecond: done / seconds,
      cpuMicros: (user + system) / done,
      newSockets: (await connections()) - before
    })
  }
}

process.send!(
  [...results].map(([name, rounds]) => ({ name, rounds })),
  () => {
    server.kill()
    process.exit()
  }
)
