/**
 * Puts a simulator together and starts it.
 */
import { randomBytes } from "node:crypto"
import { Nip } from "@govoice/ksef/format"
import { Challenges } from "./auth/Challenges.ts"
import { Jwt } from "./auth/Jwt.ts"
import { issueCertificate } from "./auth/issueCertificate.ts"
import { createToken } from "./auth/tokens.ts"
import { processBatch } from "./batch/processBatch.ts"
import { Beacon, type BeaconStatus } from "./control/Beacon.ts"
import { addFault } from "./control/control.ts"
import { decideDocument } from "./documents/decideDocument.ts"
import { Processing } from "./documents/Processing.ts"
import { Xml } from "./documents/Xml.ts"
import { Faults, type SimulatorFaults } from "./faults/Faults.ts"
import { Authority, type CertificateRequest, type IssuedCertificate } from "./keys/Authority.ts"
import { EncryptionKeys } from "./keys/EncryptionKeys.ts"
import { type GenerateRsa, generateRsa } from "./keys/rsa.ts"
import { Ledger, type SimulatorLedger } from "./ledger/Ledger.ts"
import { Limits } from "./limits/Limits.ts"
import { openApi } from "./openapi/openApi.ts"
import { resolveOptions, type ResolvedOptions, type SimulatorOptions } from "./options.ts"
import { Api, type Exchange } from "./server/Api.ts"
import { Links } from "./server/Links.ts"
import { Server } from "./server/Server.ts"
import type { Simulation } from "./Simulation.ts"
import type { Permission, Subject } from "./state/records.ts"
import { keptCalls, State } from "./state/State.ts"
import { Clock, type SimulatorClock } from "./time/Clock.ts"
import { UpoSigner } from "./upo/UpoSigner.ts"

/** A token to issue. */
export interface IssueTokenRequest {
  /** The value of the context that it gives access to: a NIP, or an internal identifier. */
  readonly context: string
  /** Defaults to all. */
  readonly permissions?: ReadonlyArray<Permission>
  /** The author. Defaults to the taxpayer of the context. */
  readonly author?: Subject
}

/** A simulator that is running. */
export interface Simulator extends AsyncDisposable {
  /** The base URL of the API, ending in `/v2`. */
  readonly url: string
  /** The base URL of the beacon: `/status` and `/messages` are under it. */
  readonly beaconUrl: string
  /** The page that shows what is going on. */
  readonly pageUrl: string
  /** The NIP of the first context. */
  readonly nip: string
  /** The KSeF token of the first context. */
  readonly token: string
  /** A certificate of the first context, to log in with. */
  readonly certificate: IssuedCertificate
  /** The seed of random numbers. */
  readonly seed: string
  readonly ledger: SimulatorLedger
  readonly faults: SimulatorFaults & {
    /** Adds a fault. One that changes keys and names no occasion is done when the promise resolves. */
    readonly apply: (fault: Parameters<SimulatorFaults["add"]>[0]) => Promise<void>
  }
  readonly clock: SimulatorClock
  /** Issues a KSeF token, and returns it. */
  readonly issueToken: (request: IssueTokenRequest) => string
  /** Issues a certificate to log in with. */
  readonly issueCertificate: (request: CertificateRequest) => IssuedCertificate
  /** Changes what the beacon says. */
  readonly setBeacon: (status: BeaconStatus, text?: string) => void
  /** Resolves when every document that was received has its verdict. */
  readonly idle: () => Promise<void>
  /** Cuts every connection and ends. */
  readonly close: () => Promise<void>
}

const drawnNip = ({ serials }: State): string => {
  for (;;) {
    const nip = String(1_000_000_000 + Math.floor(serials.fraction("nip") * 9_000_000_000))
    if (Nip.isValid(nip)) return nip
  }
}

const settingOf = (state: State, name: string, make: () => string): string => {
  const kept = state.settings.get(name)
  return kept === undefined ? String(state.settings.set(name, make())) : String(kept)
}

const contextOf = ({ nip, token }: ResolvedOptions, state: State): string => {
  const ofToken = /\|nip-(\d{10})\|/.exec(token ?? "")?.[1]
  const named = nip ?? ofToken
  if (named !== undefined) {
    state.settings.set("nip", named)
    return named
  }
  return settingOf(state, "nip", () => drawnNip(state))
}

const firstToken = (simulation: Simulation, nip: string): string => {
  const { options, state } = simulation
  const kept = Array.from(state.tokens.values()).find(
    (token) =>
      token.context === nip && !token.revoked && (options.token === undefined || token.secret === options.token)
  )
  if (kept !== undefined) return simulation.ledger.secret(kept.secret)
  return createToken(simulation, { context: nip, ...(options.token === undefined ? {} : { secret: options.token }) })
    .secret
}

// Documents that an earlier process received and did not judge, or that one of its faults held back.
const resume = (simulation: Simulation): void => {
  const { processing, state, xml } = simulation
  for (const { held, reference } of state.invoices.values()) {
    if (held !== null) state.invoices.update(reference, { held: null })
  }
  for (const { reference, session, verdict } of state.invoices.values()) {
    if (verdict !== null || state.sessions.get(session)?.kind !== "online") continue
    processing.enqueue(async () => decideDocument(simulation, await xml(), reference))
  }
  for (const { batch, closedAt, failure, reference } of state.sessions.values()) {
    if (batch === null || batch.processed || closedAt === null || failure !== null) continue
    processing.start(() => processBatch(simulation, reference))
  }
}

/**
 * The parts that tests of the simulator replace or watch.
 *
 * @internal
 */
export interface Hooks {
  readonly observe?: (exchange: Exchange) => void
  readonly generateRsa?: GenerateRsa
}

/**
 * Starts a simulator with hooks.
 *
 * @internal
 */
export const startHooked = async (given: SimulatorOptions, hooks: Hooks): Promise<Simulator> => {
  const options = resolveOptions(given)
  const state = new State({
    ...(options.state === undefined ? {} : { path: options.state }),
    ...(options.seed === undefined ? {} : { seed: options.seed })
  })
  try {
    return await start(options, state, hooks)
  } catch (error) {
    state.close()
    throw error
  }
}

const start = async (
  options: ResolvedOptions,
  state: State,
  { generateRsa: generate = generateRsa, observe }: Hooks
): Promise<Simulator> => {
  const clock = new Clock({
    source: options.now,
    speed: options.speed,
    offset: Number(state.settings.get("clockOffset") ?? 0),
    onAdvance: (offset) => state.settings.set("clockOffset", offset)
  })
  const secretKey = settingOf(state, "secretKey", () => randomBytes(32).toString("hex"))
  const authority = Authority.open(state.settings, {
    issued: state.certificates,
    serials: state.serials,
    now: clock.now
  })
  const keysReady = EncryptionKeys.open({ keys: state.keys, authority, now: clock.now, generate })
  const api = openApi()
  const ledger = new Ledger({ calls: state.calls, kept: keptCalls, settings: state.settings, invoices: state.invoices })
  let origin = ""
  const ending = new AbortController()
  const simulation: Simulation = {
    options,
    clock,
    state,
    authority,
    keys: await keysReady,
    challenges: new Challenges(clock, state.serials),
    jwt: new Jwt(secretKey, clock),
    limits: new Limits({ state, clock, openApi: api, isOff: options.limits === "off" }),
    faults: new Faults(state.serials),
    ledger,
    beacon: new Beacon(clock.now),
    links: new Links({ key: secretKey, clock, ledger, origin: () => origin }),
    processing: new Processing((error) => console.error("KSeF simulator: processing failed", error)),
    upoSigner: new UpoSigner({ authority, settings: state.settings, now: clock.now, generate }),
    ending: ending.signal,
    xml: Xml.load
  }
  const nip = contextOf(options, state)
  const token = firstToken(simulation, nip)
  for (const fault of options.faults) await addFault(simulation, fault)
  const server = new Server(simulation, new Api(simulation, api, observe))
  const port = await server.listen(options.port, options.host)
  origin = `http://${options.host.includes(":") ? `[${options.host}]` : options.host}:${port}`
  state.flush()
  resume(simulation)
  // Loaded beside the first requests, which do not need it.
  setImmediate(() => void simulation.xml().catch(() => {}))
  let closing: Promise<void> | undefined
  const end = async (): Promise<void> => {
    ending.abort()
    await server.close()
    await simulation.processing.close()
    state.close()
  }
  const close = (): Promise<void> => (closing ??= end())
  return {
    url: `${origin}/v2`,
    beaconUrl: `${origin}/latarnia`,
    pageUrl: `${origin}/`,
    nip,
    token,
    certificate: authority.issue({ nip }),
    seed: String(state.settings.get("seed")),
    ledger,
    faults: {
      add: simulation.faults.add,
      remove: simulation.faults.remove,
      clear: simulation.faults.clear,
      list: simulation.faults.list,
      apply: async (fault) => {
        await addFault(simulation, fault)
      }
    },
    clock,
    issueToken: (request) => createToken(simulation, request).secret,
    issueCertificate: (request) => issueCertificate(simulation, request),
    setBeacon: (status, text) => simulation.beacon.set(status, text),
    idle: () => simulation.processing.idle(),
    close,
    [Symbol.asyncDispose]: close
  }
}

/**
 * Starts a simulator on this machine.
 *
 * @throws {TypeError} when an option is wrong.
 */
export const startSimulator = (options: SimulatorOptions = {}): Promise<Simulator> => startHooked(options, {})
