import { setPaused, usePaused } from "../api/live.ts"
import { en } from "../text/en.ts"
import { classNames } from "./classNames.ts"
import { Instant } from "./Instant.tsx"
import styles from "./LiveButton.module.css"

const css = classNames(styles)

/** Tells whether the screen updates by itself and of when its data is. Pauses and resumes. */
export const LiveButton = ({ updatedAt }: { readonly updatedAt: number }) => {
  const isPaused = usePaused()
  return (
    <button
      type="button"
      className={css("live", isPaused && "paused")}
      aria-pressed={!isPaused}
      title={isPaused ? en.live.resume : en.live.pause}
      onClick={() => setPaused(!isPaused)}
    >
      <span className={css("dot")} aria-hidden="true" />
      {isPaused ? en.live.paused : en.live.live}
      {updatedAt > 0 && <Instant at={updatedAt} form="clock" />}
    </button>
  )
}
