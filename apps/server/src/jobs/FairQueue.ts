/**
 * A queue of jobs that divides time fairly between groups: the next job is of the group that has used the least of it.
 *
 * This is start-time fair queuing. Each group has a virtual time that grows by the cost of its jobs; a group without jobs
 * does not save up, so it continues at the virtual time of the queue.
 */

/** A job that was taken from the queue. */
export interface Taken<Job> {
  readonly job: Job
  /** Charges the group for the job, in any unit. */
  readonly charge: (cost: number) => void
}

/** The result of adding a job: a queue or a group with its maximum of jobs does not accept it. */
export type Added = "added" | "group-full" | "queue-full"

/** Jobs by group. */
export interface FairQueue<Job> {
  readonly add: (group: string, job: Job) => Added
  readonly remove: (group: string, job: Job) => void
  /** Takes the next job, unless `fits` does not accept it. */
  readonly take: (fits?: (job: Job) => boolean) => Taken<Job> | undefined
  readonly size: () => number
  /** The number of groups in memory. */
  readonly groups: () => number
}

interface Group<Job> {
  virtualTime: number
  /** Jobs that were taken and not charged yet. */
  running: number
  readonly jobs: Set<Job>
}

/** Makes a queue of at most `maxJobs` jobs, and `maxJobsPerGroup` of one group. */
export const make = <Job>(options: { readonly maxJobs: number; readonly maxJobsPerGroup: number }): FairQueue<Job> => {
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

  const next = (): Group<Job> | undefined => {
    let first: Group<Job> | undefined
    for (const group of groups.values()) {
      if (group.jobs.size > 0 && (first === undefined || group.virtualTime < first.virtualTime)) first = group
    }
    return first
  }

  return {
    add: (name, job) => {
      const group = groups.get(name) ?? { virtualTime, running: 0, jobs: new Set<Job>() }
      if (group.jobs.size >= options.maxJobsPerGroup) return "group-full"
      if (size >= options.maxJobs) return "queue-full"
      if (group.jobs.size === 0 && group.running === 0) group.virtualTime = Math.max(group.virtualTime, virtualTime)
      groups.set(name, group)
      group.jobs.add(job)
      size++
      if (groups.size > options.maxJobs) evict()
      return "added"
    },
    remove: (name, job) => {
      if (groups.get(name)?.jobs.delete(job) === true) size--
    },
    take: (fits) => {
      const group = next()
      if (group === undefined) return undefined
      const job: Job = group.jobs.values().next().value!
      if (fits?.(job) === false) return undefined
      group.jobs.delete(job)
      group.running++
      running++
      size--
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
