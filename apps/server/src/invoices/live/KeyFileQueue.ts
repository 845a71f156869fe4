/**
 * The order in which encrypted private keys are opened: one at a time, networks in turn, and the accounts of a network in turn.
 *
 * Anybody can make accounts, but from one network. However many accounts of a network wait, it has one key in the queue of all
 * networks, so that another network waits for one of its keys at most.
 */
import { Effect } from "effect"
import * as FairSlots from "../../jobs/FairSlots.ts"
import * as NetworkWindows from "../../limits/NetworkWindows.ts"

/** The caller who sends a key. */
export interface KeyFileOwner {
  readonly account: string
  /** As `ClientAddress.group` returns it. */
  readonly network: string
}

interface Network {
  readonly accounts: FairSlots.FairSlots
  /** The keys that wait or are open. */
  keys: number
}

const maxNetworks = 64
const ofNetwork = { slots: 1, maxJobs: 64, maxJobsPerGroup: 4 }

/** Runs effects in turn. */
export interface KeyFileQueue {
  /** Runs an effect when it is its turn. Fails if too many wait: of the account, of the network, or of all. */
  readonly run: (
    owner: KeyFileOwner
  ) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | FairSlots.SlotsFull, R>
}

/** Makes a queue. */
export const make = (): KeyFileQueue => {
  const all = FairSlots.make({ slots: 1, maxJobs: maxNetworks, maxJobsPerGroup: 1 })
  const networks = new Map<string, Network>()

  const enter = (name: string) =>
    Effect.sync(() => {
      const network = networks.get(name) ?? { accounts: FairSlots.make(ofNetwork), keys: 0 }
      networks.set(name, network)
      network.keys++
      return network
    })

  return {
    run: (owner) => (effect) => {
      const name = NetworkWindows.widerNetworks(owner.network)?.[48] ?? owner.network
      return Effect.acquireUseRelease(
        enter(name),
        ({ accounts }) => accounts.run(owner.account)(all.run(name)(effect)),
        (network) => Effect.sync(() => void (--network.keys === 0 && networks.delete(name)))
      )
    }
  }
}
