/** One case: the requests that are sent, and how the receiver treats each connection. */
import { type Random, seeded } from "./random.ts"
import { type Script, script } from "./response.ts"

/** The receiver's fault on the level below HTTP. */
export type Disturbance =
  | "none"
  | "RST at once"
  | "FIN at once"
  | "bytes at once"
  /** TLS alone: bytes that are no record, in place of the handshake, or at any time after it. */
  | "raw bytes"
  /** TLS alone: the socket ends without `close_notify`. */
  | "raw end"

export interface ConnectionPlan {
  readonly disturbance: Disturbance
  readonly disturbanceMs: number
  readonly bytes: Buffer
  /** Whether it reads requests at all. */
  readonly reads: boolean
  /** One for each request; the last one is repeated. */
  readonly scripts: ReadonlyArray<Script>
}

export interface RequestPlan {
  readonly method: "POST" | "GET"
  readonly bodyLength: number
  /** When the caller gives up, in milliseconds. */
  readonly abortMs: number | undefined
}

export interface Scenario {
  readonly secure: boolean
  readonly requests: ReadonlyArray<RequestPlan>
  readonly parallel: boolean
  readonly connection: (index: number) => ConnectionPlan
}

const request = (random: Random): RequestPlan => ({
  method: random.chance(0.9) ? "POST" : "GET",
  bodyLength: random.chance(0.02) ? 300_000 : random.pick([0, 2, 2, 1_000]),
  abortMs: random.chance(0.04) ? random.pick([0, 1, 5, 20]) : undefined
})

const plainDisturbances: ReadonlyArray<Disturbance> = ["RST at once", "FIN at once", "bytes at once"]
const tlsDisturbances: ReadonlyArray<Disturbance> = [
  ...plainDisturbances,
  "raw bytes",
  "raw bytes",
  "raw end",
  "raw end"
]

/** The scenario of a case, the same for the same seed and number. */
export const scenario = (seed: number, number: number): Scenario => {
  const random = seeded(seed, number)
  const secure = random.chance(0.08)
  const requests = Array.from({ length: random.pick([1, 1, 1, 1, 1, 2, 2, 3]) }, () => request(random))
  return {
    secure,
    requests,
    parallel: random.chance(0.3),
    connection: (index) => {
      const own = seeded(seed, number, index + 1)
      const first = script(own)
      return {
        disturbance: own.chance(0.08) ? own.pick(secure ? tlsDisturbances : plainDisturbances) : "none",
        disturbanceMs: own.pick([0, 0, 1, 3, 10, 30]),
        bytes: first.writes[0]?.bytes ?? Buffer.alloc(0),
        reads: own.chance(0.99),
        scripts: [first, script(own), script(own)]
      }
    }
  }
}
