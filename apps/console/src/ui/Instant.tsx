import { usePreference } from "../app/preferences.ts"
import { useNow } from "./clock.ts"
import { fullTime, relativeTime } from "./times.ts"

/** A time relative to now, with the complete date as its title. */
export const Instant = ({ at, whole = false }: { readonly at: string; readonly whole?: boolean }) => {
  const now = useNow()
  usePreference("timeZone")
  const time = Date.parse(at)
  if (Number.isNaN(time)) return <span>{at}</span>
  return (
    <time dateTime={at} title={fullTime(time)} className="nowrap">
      {whole ? fullTime(time) : relativeTime(time, now)}
    </time>
  )
}
