// Effect's errors of several kinds have their cause in a `reason`.
const causeOf = (error: Error): unknown =>
  error.cause ?? ("reason" in error && error.reason instanceof Error ? error.reason.cause : undefined)

/** Returns the innermost message of an error: those around it mostly say that something failed. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(reasonOf).join("; ")
  if (!(error instanceof Error)) return String(error)
  const cause = causeOf(error)
  return cause === undefined ? error.message || error.name : reasonOf(cause)
}
