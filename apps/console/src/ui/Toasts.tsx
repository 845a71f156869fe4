import { useSyncExternalStore } from "react"
import { announce } from "./announce.ts"
import { classNames } from "./classNames.ts"
import { Icon } from "./Icon.tsx"
import styles from "./Toasts.module.css"

const css = classNames(styles)

interface Toast {
  readonly id: number
  readonly text: string
}

let toasts: ReadonlyArray<Toast> = []
let count = 0
const listeners = new Set<() => void>()

const set = (next: ReadonlyArray<Toast>) => {
  toasts = next
  for (const listener of listeners) listener()
}

/** Tells for five seconds that a change was made. Never with a secret or anything that has to be read. */
export const toast = (text: string): void => {
  const id = ++count
  set([...toasts, { id, text }])
  announce(text)
  setTimeout(() => set(toasts.filter((each) => each.id !== id)), 5000)
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}

export const Toasts = () => {
  const shown = useSyncExternalStore(subscribe, () => toasts)
  return (
    <div className={css("toasts")} aria-hidden="true" data-print="hidden">
      {shown.map(({ id, text }) => (
        <div key={id} className={css("toast")}>
          <Icon name="check" />
          {text}
        </div>
      ))}
    </div>
  )
}
