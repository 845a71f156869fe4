/** Runs what reads bytes of others, and returns `undefined` where it throws. */
export const attempt = <A>(run: () => A): A | undefined => {
  try {
    return run()
  } catch {
    return undefined
  }
}
