import { classNames } from "./classNames.ts"
import styles from "./Switch.module.css"

const css = classNames(styles)

/** A switch with the word of its state, which is part of its name. */
export const Switch = ({
  isOn,
  label,
  onChange,
  words
}: {
  readonly label: string
  readonly isOn: boolean
  readonly words: readonly [on: string, off: string]
  readonly onChange: (next: boolean) => void
}) => (
  <button
    type="button"
    role="switch"
    aria-checked={isOn}
    aria-label={`${label}: ${words[isOn ? 0 : 1]}`}
    className={css("switch")}
    onClick={() => onChange(!isOn)}
  >
    {words[isOn ? 0 : 1]}
    <span className={css("track")} />
  </button>
)
