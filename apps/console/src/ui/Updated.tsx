import { setPaused, usePaused } from "../api/polling.ts"
import { texts } from "../text/texts.ts"
import { classNames } from "./classNames.ts"
import { Instant } from "./Instant.tsx"
import styles from "./Updated.module.css"

const css = classNames(styles)

/** Tells how old the data of the screen is, and whether it updates by itself. Pauses and resumes. */
export const Updated = ({ updatedAt }: { readonly updatedAt: number }) => {
  const isPaused = usePaused()
  return (
    <button
      type="button"
      className={css("updated")}
      aria-pressed={!isPaused}
      title={isPaused ? texts.updating.resume : texts.updating.pause}
      onClick={() => setPaused(!isPaused)}
    >
      {isPaused && <span>{texts.updating.paused}</span>}
      {updatedAt > 0 && (
        <span>
          {texts.updating.updated} <Instant at={updatedAt} isPast />
        </span>
      )}
    </button>
  )
}
