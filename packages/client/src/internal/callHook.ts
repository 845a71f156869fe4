/**
 * Calls hooks.
 *
 * @module
 */

/** Calls a hook and ignores its errors. Callers do not await it, so a hook can neither fail nor delay a call. */
export const callHook = async <A>(hook: ((info: A) => unknown) | undefined, info: A): Promise<void> => {
  try {
    await hook?.(info)
  } catch {}
}
