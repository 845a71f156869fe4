/**
 * Runs effects in slots: so many at once in all, and so many of one group. The others wait, for a limited time, in a queue that
 * divides the time of the slots fairly between accounts, and that of an account between its groups.
 */
import type { Ids } from "@govoice/core"
import { Data, Effect } from "effect"

/** No slot became free in time, or too many effects are waiting. */
export class NoSlot extends Data.TaggedError("NoSlot")<{
  /** Whether it had a place in the queue, so that others are the cause. */
  readonly hasWaited: boolean
}> {}

/** How long a request waits for a turn of a part that it shares with others, in milliseconds. */
export const turnMs = 10_000

/** An organization, and the account that it belongs to. */
export interface Owner {
  readonly accountId: Ids.AccountId
  readonly organizationId: Ids.OrganizationId
}

/** Whom a job is for. Anybody can have a hundred organizations, so accounts share first. A text is a group of no account. */
export type Group = string | Owner

/** The numbers of a set of slots. */
export interface SlotsOptions {
  readonly slots: number
  /** All of them, unless it is given. */
  readonly slotsPerGroup?: number
  readonly maxWaiting: number
  readonly maxWaitingPerGroup: number
  readonly maxWaitMs: number
}

/** Runs effects. */
export interface Slots {
  /** Runs an effect when it is the turn of its group. An effect that is interrupted while it waits leaves the queue. */
  readonly run: (group: Group) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | NoSlot, R>
  /** Whether the next effect runs at once. */
  readonly isFree: () => boolean
}

type Charge = (milliseconds: number) => void

interface Waiting {
  readonly start: (charge: Charge) => void
  readonly refuse: () => void
}

/** Makes slots. */
export const make = (options: SlotsOptions): Slots => {
  const queue = makeQueue<Waiting>({
    maxSize: options.maxWaiting,
    maxSizePerGroup: options.maxWaitingPerGroup,
    maxRunningPerGroup: options.slotsPerGroup,
    onDropped: ({ refuse }) => refuse()
  })
  let running = 0
  let isDispatching = false

  // An effect that ends at once frees its slot before `start` returns. The loop takes the next one: a call within each of a thousand
  // would not fit on the stack.
  const dispatch = (): void => {
    if (isDispatching) return
    isDispatching = true
    try {
      while (running < options.slots) {
        const taken = queue.take()
        if (taken === undefined) return
        running++
        taken.job.start(taken.charge)
      }
    } finally {
      isDispatching = false
    }
  }

  const acquire = (group: Group): Effect.Effect<Charge, NoSlot> =>
    Effect.callback((resume) => {
      let timer: NodeJS.Timeout | undefined
      const stop = (result: Effect.Effect<Charge, NoSlot>) => {
        clearTimeout(timer)
        resume(result)
      }
      const waiting: Waiting = {
        start: (charge) => stop(Effect.succeed(charge)),
        refuse: () => stop(Effect.fail(new NoSlot({ hasWaited: true })))
      }
      if (!queue.add(group, waiting)) return stop(Effect.fail(new NoSlot({ hasWaited: false })))
      timer = setTimeout(() => queue.remove(group, waiting) && waiting.refuse(), options.maxWaitMs)
      dispatch()
      return Effect.sync(() => {
        clearTimeout(timer)
        queue.remove(group, waiting)
      })
    })

  return {
    run: (group) => (effect) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(restore(acquire(group)), (charge) => {
          const startedAt = performance.now()
          return Effect.ensuring(
            restore(effect),
            Effect.sync(() => {
              running--
              charge(performance.now() - startedAt)
              dispatch()
            })
          )
        })
      ),
    isFree: () => running < options.slots && queue.size() === 0
  }
}

/** A job that was taken from the queue. */
export interface Taken<Job> {
  readonly job: Job
  /** Charges the group for the job, in any unit. */
  readonly charge: (cost: number) => void
}

/**
 * A queue of jobs that divides time fairly: the next job is of the account that has used the least of it, and there of the group that
 * has.
 *
 * This is start-time fair queuing. Each account and group has a virtual time that grows by the cost of its jobs; one without jobs
 * does not save up, so it continues at the virtual time of those that it shares with.
 */
export interface FairQueue<Job> {
  /** Adds a job of a size. Returns whether the group has room for it, and the queue has or makes some. */
  readonly add: (group: Group, job: Job, size?: number) => boolean
  /** Removes a job that was not taken. Returns whether there was one. */
  readonly remove: (group: Group, job: Job) => boolean
  /** Takes the next job, unless `fits` does not accept it. */
  readonly take: (fits?: (job: Job) => boolean) => Taken<Job> | undefined
  /** The sizes of the jobs together. */
  readonly size: () => number
  /** The number of accounts, and of groups that are of no account, in memory. */
  readonly groups: () => number
}

// More are in memory only while they have jobs, or have used more time than others.
const maxGroups = 1024

/** What the queue, an account or a group has waiting and running, and how much time it has used. */
class Share<Job> {
  virtualTime: number
  /** Jobs that were taken and not charged yet. */
  running = 0
  /** Of the jobs that wait. */
  size = 0
  /** The jobs of a group, and their sizes. */
  readonly jobs = new Map<Job, number>()
  /** Those that share its time, and the virtual time at which another one begins. */
  readonly children = new Map<string, Share<Job>>()
  childrenTime = 0
  readonly parent: Share<Job> | undefined

  constructor(parent?: Share<Job>) {
    this.parent = parent
    this.virtualTime = parent?.childrenTime ?? 0
  }

  get isIdle(): boolean {
    return this.size === 0 && this.running === 0
  }

  get largestChild(): Share<Job> {
    return [...this.children.values()].reduce((one, other) => (other.size > one.size ? other : one))
  }

  child(name: string): Share<Job> {
    const child = this.children.get(name) ?? new Share(this)
    this.children.set(name, child)
    if (child.isIdle) child.virtualTime = Math.max(child.virtualTime, this.childrenTime)
    return child
  }

  /** Removes children that are the same as new ones: without jobs, and not ahead of the others. */
  forgetIdle(): void {
    for (const [name, child] of this.children) {
      if (child.isIdle && child.virtualTime <= this.childrenTime) this.children.delete(name)
    }
  }

  resize(by: number): void {
    this.size += by
    this.parent?.resize(by)
  }

  begin(): void {
    this.running++
    if (this.parent === undefined) return
    this.parent.childrenTime = Math.max(this.parent.childrenTime, this.virtualTime)
    this.parent.begin()
  }

  end(cost: number): void {
    this.running--
    this.virtualTime += cost
    // No job waits or runs: all that share its time are equal again.
    if (this.isIdle) this.children.clear()
    this.parent?.end(cost)
  }
}

/** How much waits, in any unit, and how many jobs of a group are taken and not charged yet. */
export interface FairQueueOptions<Job> {
  readonly maxSize: number
  readonly maxSizePerGroup: number
  /** Without it, any number. */
  readonly maxRunningPerGroup?: number | undefined
  /**
   * What a job is expected to cost for its size. With it, the next job is of the account and group that have used the least after that
   * job: however many come with long jobs, a short one of another goes before them. Without it, only what was used counts.
   */
  readonly costOfSize?: number | undefined
  /** Called with a job that leaves the queue without being taken, for one of an account or group that has less in it. */
  readonly onDropped: (job: Job) => void
}

const pathOf = (group: Group): ReadonlyArray<string> =>
  typeof group === "string" ? [group] : [group.accountId, group.organizationId]

/** Makes a queue. */
export const makeQueue = <Job>(options: FairQueueOptions<Job>): FairQueue<Job> => {
  const { costOfSize = 0, maxRunningPerGroup = Infinity } = options
  const all = new Share<Job>()

  const open = (group: Group): Share<Job> => pathOf(group).reduce((share, name) => share.child(name), all)

  const takeOut = (group: Share<Job>, job: Job): boolean => {
    const size = group.jobs.get(job)
    if (size === undefined) return false
    group.jobs.delete(job)
    group.resize(-size)
    return true
  }

  const takeLastOf = (share: Share<Job>): Job => {
    if (share.children.size > 0) return takeLastOf(share.largestChild)
    const last: Job = [...share.jobs.keys()].at(-1)!
    takeOut(share, last)
    return last
  }

  // Anybody can make groups, and a few of them can fill the queue. Then the accounts that have most in it make room, down to what that
  // of the new job would have, and so do the other groups of its account. Returns the jobs that leave, or nothing if they are too few.
  const makeRoom = (group: Share<Job>, size: number): ReadonlyArray<Job> | undefined => {
    const missing = () => all.size + size - options.maxSize
    if (missing() <= 0) return []
    const excess = (own: Share<Job>, other: Share<Job>) => Math.max(0, other.size - own.size - size)
    const levels = group.parent === all ? [group] : [group.parent!, group]
    const room = levels.flatMap((own) => Array.from(own.parent!.children.values(), (other) => excess(own, other)))
    if (room.reduce((sum, one) => sum + one, 0) < missing()) return undefined
    const dropped: Array<Job> = []
    while (missing() > 0) {
      const level = levels.find((own) => excess(own, own.parent!.largestChild) > 0)!
      dropped.push(takeLastOf(level.parent!.largestChild))
    }
    return dropped
  }

  // Returns the group whose job is next: at each level, of the share that will have used the least after it.
  const next = (share: Share<Job>): Share<Job> | undefined => {
    if (share.jobs.size > 0) return share.running < maxRunningPerGroup ? share : undefined
    let first: Share<Job> | undefined
    let firstTime = Infinity
    for (const child of share.children.values()) {
      const group = child.size === 0 ? undefined : next(child)
      if (group === undefined) continue
      const time = child.virtualTime + costOfSize * group.jobs.values().next().value!
      if (time >= firstTime) continue
      first = group
      firstTime = time
    }
    return first
  }

  return {
    add: (name, job, size = 1) => {
      if (all.children.size > Math.min(options.maxSize, maxGroups)) all.forgetIdle()
      const group = open(name)
      const dropped = group.size + size > options.maxSizePerGroup ? undefined : makeRoom(group, size)
      if (dropped === undefined) return false
      group.jobs.set(job, size)
      group.resize(size)
      dropped.forEach(options.onDropped)
      return true
    },
    remove: (name, job) => takeOut(open(name), job),
    take: (fits) => {
      const group = next(all)
      if (group === undefined) return undefined
      const job: Job = group.jobs.keys().next().value!
      if (fits?.(job) === false) return undefined
      group.begin()
      takeOut(group, job)
      return { job, charge: (cost) => group.end(cost) }
    },
    size: () => all.size,
    groups: () => all.children.size
  }
}
