/**
 * The start of each test of faults: a simulator, a client that is logged in, and an open session.
 */
import type { Simulator } from "../../src/startSimulator.ts"
import { Client, fa3Form, type Opened, sha256 } from "../support/Client.ts"
import { start } from "../support/simulator.ts"

/** The effects of one fault, as sentences with their tests. */
export type Cases = Readonly<Record<string, () => Promise<void>>>

/** Returns whether a call got no answer at all. */
export const isCut = (call: Promise<unknown>): Promise<boolean> =>
  call.then(
    () => false,
    () => true
  )

export interface Ready {
  readonly simulator: Simulator
  readonly client: Client
  readonly session: Opened
}

export const ready = async (options: Parameters<typeof start>[0] = {}): Promise<Ready> => {
  const simulator = await start(options)
  const client = await Client.login(simulator)
  return { simulator, client, session: await client.open() }
}

export const opening = async (client: Client) => {
  const { body } = await client.encryption()
  return () => client.call("POST", "/sessions/online", { body: { formCode: fa3Form, encryption: body } })
}

export const lastCall = ({ ledger }: Simulator) => ledger.calls().at(-1)!

export const batchOfOne = async (client: Client) => {
  const { body } = await client.encryption()
  const part = Buffer.alloc(32, 7)
  const batchFile = {
    fileSize: 16,
    fileHash: sha256("x"),
    fileParts: [{ ordinalNumber: 1, fileSize: part.length, fileHash: sha256(part) }]
  }
  const { json } = await client.call("POST", "/sessions/batch", {
    body: { formCode: fa3Form, encryption: body, batchFile }
  })
  const { headers, url } = json.partUploadRequests[0]!
  return { reference: json.referenceNumber, part, send: () => fetch(url, { method: "PUT", headers, body: part }) }
}
