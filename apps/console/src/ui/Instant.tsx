import { usePreference } from "./preferences.ts"
import { useNow } from "./clock.ts"
import { awaitedTime, clockTime, fullTime, relativeTime, shortTime } from "./times.ts"

const forms = { short: shortTime, clock: clockTime, whole: fullTime } as const

/** A time relative to now, or in another form, with the complete date as its title. */
export const Instant = ({
  at,
  form,
  isAwaited = false,
  isPast = false,
  whole = false
}: {
  readonly at: string | number
  readonly form?: "short" | "clock"
  /** Set for the time of what has not happened yet, even when it is late. */
  readonly isAwaited?: boolean
  /** Set for a time of this page, which the clock of the page may not have reached. */
  readonly isPast?: boolean
  readonly whole?: boolean
}) => {
  const now = useNow()
  usePreference("timeZone")
  const time = typeof at === "number" ? at : Date.parse(at)
  if (Number.isNaN(time)) return <span>{at}</span>
  const shown = whole ? "whole" : form
  const relative = isAwaited ? awaitedTime(time, now) : relativeTime(isPast ? Math.min(time, now) : time, now)
  return (
    <time dateTime={new Date(time).toISOString()} title={fullTime(time)} className="nowrap">
      {shown === undefined ? relative : forms[shown](time)}
    </time>
  )
}
