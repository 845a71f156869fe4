/**
 * Calls a hook. What it does is no part of the call, so that it can neither fail nor delay one.
 *
 * @module
 */

/** Resolves whatever the hook does; nobody waits for it. */
export const tell = async <A>(hook: ((info: A) => unknown) | undefined, info: A): Promise<void> => {
  try {
    await hook?.(info)
  } catch {}
}
