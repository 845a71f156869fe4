/**
 * `Retry-After`, in both of its forms.
 *
 * @module
 */

/** How long to wait, in milliseconds; `undefined` where there is nothing to read. */
export const retryAfterMs = (value: string | null, now: number): number | undefined => {
  // Date.parse makes dates of all sorts of nonsense, so that the form is checked before.
  const ms = /^\d+$/.test(value!) ? Number(value) * 1000 : / GMT$/.test(value!) ? Date.parse(value!) - now : NaN
  return ms >= 0 ? ms : ms < 0 ? 0 : undefined
}
