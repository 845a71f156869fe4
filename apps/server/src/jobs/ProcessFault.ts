/**
 * Whether an uncaught exception is about to end this process. It has a second left, to write the completions that are ready.
 */

let occurred = false

/** Records that nothing caught an exception. */
export const record = (): void => {
  occurred = true
}

/** Returns whether nothing caught an exception. */
export const hasOccurred = (): boolean => occurred
