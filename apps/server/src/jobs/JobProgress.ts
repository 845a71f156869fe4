/**
 * The progress of a thread through a batch of jobs, in memory that it shares with the pool: which job runs, and since when.
 */

/** Progress that both sides read and write. */
export interface JobProgress {
  readonly memory: SharedArrayBuffer
  readonly begin: (index: number) => void
  readonly end: () => void
  /** The index of the job that runs, or ran last. */
  readonly index: () => number
  /** For how long the job has been running; 0 when none runs. */
  readonly elapsedMs: () => number
}

const notRunning = 0n

/** Opens the memory that the other side made, or makes it. */
export const open = (memory = new SharedArrayBuffer(16)): JobProgress => {
  const startedAt = new BigInt64Array(memory, 0, 1)
  const index = new Int32Array(memory, 8, 1)
  return {
    memory,
    begin: (job) => {
      // The time first: a reader between the two takes the job before it for one that has just begun, not for a slow one.
      Atomics.store(startedAt, 0, process.hrtime.bigint())
      Atomics.store(index, 0, job)
    },
    end: () => void Atomics.store(startedAt, 0, notRunning),
    index: () => Atomics.load(index, 0),
    elapsedMs: () => {
      const since = Atomics.load(startedAt, 0)
      return since === notRunning ? 0 : Number(process.hrtime.bigint() - since) / 1e6
    }
  }
}
