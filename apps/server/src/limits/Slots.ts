/**
 * Runs effects in slots: so many at once in all, and so many of one group. The others wait, for a limited time, in a queue that
 * divides the time of the slots fairly between groups.
 */
import { Data, Effect } from "effect"

/** No slot became free in time, or too many effects are waiting. */
export class NoSlot extends Data.TaggedError("NoSlot")<{
  /** Whether it had a place in the queue, so that others are the cause. */
  readonly hasWaited: boolean
}> {}

/** How long a request waits for a turn of a part that it shares with others, in milliseconds. */
export const turnMs = 10_000

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
  readonly run: (group: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | NoSlot, R>
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

  const dispatch = (): void => {
    while (running < options.slots) {
      const taken = queue.take()
      if (taken === undefined) return
      running++
      taken.job.start(taken.charge)
    }
  }

  const acquire = (group: string): Effect.Effect<Charge, NoSlot> =>
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
 * A queue of jobs that divides time fairly between groups: the next job is of the group that has used the least of it.
 *
 * This is start-time fair queuing. Each group has a virtual time that grows by the cost of its jobs; a group without jobs
 * does not save up, so it continues at the virtual time of the queue.
 */
export interface FairQueue<Job> {
  /** Adds a job of a size. Returns whether the group has room for it, and the queue has or makes some. */
  readonly add: (group: string, job: Job, size?: number) => boolean
  /** Removes a job that was not taken. Returns whether there was one. */
  readonly remove: (group: string, job: Job) => boolean
  /** Takes the next job, unless `fits` does not accept it. */
  readonly take: (fits?: (job: Job) => boolean) => Taken<Job> | undefined
  /** The sizes of the jobs together. */
  readonly size: () => number
  /** The number of groups in memory. */
  readonly groups: () => number
}

// More are in memory only while they have jobs, or have used more time than others.
const maxGroups = 1024

interface Group<Job> {
  virtualTime: number
  /** Jobs that were taken and not charged yet. */
  running: number
  size: number
  /** The jobs and their sizes. */
  readonly jobs: Map<Job, number>
}

/** How much waits, in any unit, and how many jobs of a group are taken and not charged yet. */
export interface FairQueueOptions<Job> {
  readonly maxSize: number
  readonly maxSizePerGroup: number
  /** Without it, any number. */
  readonly maxRunningPerGroup?: number | undefined
  /**
   * What a job is expected to cost for its size. With it, the next job is of the group that has used the least after that job: however
   * many groups come with long jobs, a short one of another goes before them. Without it, only what was used counts.
   */
  readonly costOfSize?: number | undefined
  /** Called with a job that leaves the queue without being taken, for one of a group that has less in it. */
  readonly onDropped: (job: Job) => void
}

/** Makes a queue. */
export const makeQueue = <Job>(options: FairQueueOptions<Job>): FairQueue<Job> => {
  const { costOfSize = 0, maxRunningPerGroup = Infinity } = options
  const groups = new Map<string, Group<Job>>()
  let virtualTime = 0
  let size = 0
  let running = 0

  // A group without jobs that is not ahead of the queue is the same as a new one.
  const evict = (): void => {
    for (const [name, group] of groups) {
      if (group.jobs.size === 0 && group.running === 0 && group.virtualTime <= virtualTime) groups.delete(name)
    }
  }

  const takeOut = (group: Group<Job>, job: Job): boolean => {
    const jobSize = group.jobs.get(job)
    if (jobSize === undefined) return false
    group.jobs.delete(job)
    group.size -= jobSize
    size -= jobSize
    return true
  }

  // Anybody can make groups, and a few of them can fill the queue. Then the groups that have most in it make room, down to what the
  // new job's would have.
  const makeRoom = (jobSize: number, groupSize: number): boolean => {
    if (size + jobSize <= options.maxSize) return true
    const larger = [...groups.values()].filter((group) => group.size > groupSize)
    const room = options.maxSize - size + larger.reduce((sum, group) => sum + group.size - groupSize, 0)
    if (room < jobSize) return false
    while (size + jobSize > options.maxSize) {
      const largest = larger.reduce((one, other) => (other.size > one.size ? other : one))
      const last: Job = [...largest.jobs.keys()].at(-1)!
      takeOut(largest, last)
      options.onDropped(last)
    }
    return true
  }

  const timeAfterNext = ({ jobs, virtualTime: used }: Group<Job>): number =>
    used + costOfSize * jobs.values().next().value!

  const next = (): Group<Job> | undefined => {
    let first: Group<Job> | undefined
    for (const group of groups.values()) {
      if (group.jobs.size === 0 || group.running >= maxRunningPerGroup) continue
      if (first === undefined || timeAfterNext(group) < timeAfterNext(first)) first = group
    }
    return first
  }

  return {
    add: (name, job, jobSize = 1) => {
      const group = groups.get(name) ?? { virtualTime, running: 0, size: 0, jobs: new Map<Job, number>() }
      const groupSize = group.size + jobSize
      if (groupSize > options.maxSizePerGroup || !makeRoom(jobSize, groupSize)) return false
      if (group.jobs.size === 0 && group.running === 0) group.virtualTime = Math.max(group.virtualTime, virtualTime)
      groups.set(name, group)
      group.jobs.set(job, jobSize)
      group.size = groupSize
      size += jobSize
      if (groups.size > Math.min(options.maxSize, maxGroups)) evict()
      return true
    },
    remove: (name, job) => {
      const group = groups.get(name)
      return group !== undefined && takeOut(group, job)
    },
    take: (fits) => {
      const group = next()
      if (group === undefined) return undefined
      const job: Job = group.jobs.keys().next().value!
      if (fits?.(job) === false) return undefined
      takeOut(group, job)
      group.running++
      running++
      virtualTime = Math.max(virtualTime, group.virtualTime)
      return {
        job,
        charge: (cost) => {
          group.running--
          running--
          group.virtualTime += cost
          // No job waits or runs: all groups are equal again.
          if (size === 0 && running === 0) groups.clear()
        }
      }
    },
    size: () => size,
    groups: () => groups.size
  }
}
