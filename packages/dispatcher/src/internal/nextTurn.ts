/** Runs callbacks in the check phase of the event loop, all that were added before it in one `setImmediate`. */

let queue: Array<() => void> = []

const runAll = (): void => {
  const callbacks = queue
  queue = []
  for (const callback of callbacks) callback()
}

/** `callback` must not throw. */
export const nextTurn = (callback: () => void): void => {
  if (queue.push(callback) === 1) setImmediate(runAll)
}
