/** The targets that have connections, or a TLS session to resume, and which of them an attempt goes to. */
import type { Attempt } from "./attempt.ts"
import type { Engine } from "./engine.ts"
import { List } from "./list.ts"
import { Target } from "./target.ts"

export class Targets {
  readonly #engine: Engine
  readonly #max: number
  readonly #byKey = new Map<string, Target>()
  /** The one that was used last is at the end. */
  readonly #kept = new List<Target>()

  constructor(engine: Engine, max: number) {
    this.#engine = engine
    this.#max = max
  }

  get crowded(): boolean {
    return this.#kept.size > this.#max
  }

  /**
   * One with an idle connection if there is one, else one that is in use and has room, else the first in the order of the
   * answer, else the one that fewest wait for.
   */
  choose(attempt: Attempt, addresses: ReadonlyArray<string>): Target {
    let chosen: Target | undefined
    let best = -1
    for (const address of addresses) {
      const key = `${attempt.url.origin} ${address}`
      const target = this.#byKey.get(key)
      const score = target === undefined ? 1 : scoreOf(target)
      if (score <= best) continue
      best = score
      chosen = target ?? new Target(this.#engine, key, attempt, address)
      if (score === 3) break
    }
    if (chosen === undefined) throw new TypeError("There is no address to choose from")
    this.use(chosen)
    return chosen
  }

  /** Keeps a target, as the one that was used last. */
  use(target: Target): void {
    const known = target.kept.list !== undefined
    this.#kept.add(target.kept)
    if (known) return
    this.#byKey.set(target.key, target)
    this.#engine.instruments.move("targets", 1)
    if (this.crowded) this.#evict(target)
  }

  /** Drops those that were not used for longest, until there are as many as are kept. Those in use end by themselves. */
  #evict(newest: Target): void {
    for (const target of this.#kept) {
      if (!this.crowded) return
      if (target === newest || !target.quiet) continue
      target.close()
      this.forget(target)
    }
  }

  forget(target: Target): void {
    if (!this.#kept.delete(target.kept)) return
    if (this.#byKey.get(target.key) === target) this.#byKey.delete(target.key)
    this.#engine.instruments.move("targets", -1)
  }

  /** Closes every connection. */
  close(): void {
    for (const target of this.#kept) {
      target.close()
      this.forget(target)
    }
  }
}

const scoreOf = (target: Target): number => {
  if (!target.hasRoom) return 1 / (2 + target.waiters.size)
  return target.hasIdle ? 3 : 2
}
