import { type ReactNode, useEffect, useId, useRef } from "react"
import { classNames } from "./classNames.ts"
import { heading } from "./focus.ts"
import styles from "./Dialog.module.css"

const css = classNames(styles)

/**
 * A modal dialog. Escape closes it unless `onClose` is missing; focus returns to the element that had it, or to the heading of the screen.
 */
export const Dialog = ({
  actions,
  children,
  onClose,
  size,
  title
}: {
  readonly title: string
  readonly children: ReactNode
  readonly actions?: ReactNode
  readonly onClose?: (() => void) | undefined
  readonly size?: "wide"
}) => {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = ref.current!
    const before = document.activeElement
    if (!dialog.open) dialog.showModal()
    return () => {
      dialog.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
      else document.querySelector<HTMLElement>(heading)?.focus()
    }
  }, [])
  return (
    <dialog
      ref={ref}
      className={css("dialog", size)}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
      // Chromium closes a dialog at the second Escape without a cancelable event.
      onKeyDown={(event) => {
        if (event.key !== "Escape") return
        event.preventDefault()
        event.stopPropagation()
        onClose?.()
      }}
    >
      <div className={css("body")}>
        <h2 id={id}>{title}</h2>
        {children}
        {actions !== undefined && <div className={css("actions")}>{actions}</div>}
      </div>
    </dialog>
  )
}
