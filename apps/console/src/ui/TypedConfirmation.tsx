import { type ReactNode, useEffect, useRef, useState } from "react"
import { texts } from "../text/texts.ts"
import { Button } from "./Button.tsx"
import { Dialog } from "./Dialog.tsx"
import { Field } from "./Field.tsx"
import { ProblemNotice } from "./Notice.tsx"

/**
 * Asks before a step that cannot be undone. The dialog focuses its cancel button; with `typed`, the confirming button needs
 * these words.
 */
export const TypedConfirmation = ({
  action,
  children,
  error,
  isBusy,
  onCancel,
  onConfirm,
  title,
  typed
}: {
  readonly title: string
  readonly action: string
  /** The consequence, in a sentence. */
  readonly children: ReactNode
  readonly typed?: { readonly text: string; readonly label: string }
  readonly isBusy: boolean
  readonly error?: unknown
  readonly onConfirm: () => void
  readonly onCancel: () => void
}) => {
  const [text, setText] = useState("")
  const cancel = useRef<HTMLButtonElement>(null)
  useEffect(() => cancel.current?.focus(), [])
  const mayConfirm = typed === undefined || text.trim() === typed.text
  return (
    <Dialog
      title={title}
      onClose={onCancel}
      actions={
        <>
          <Button ref={cancel} onClick={onCancel}>
            {texts.cancel}
          </Button>
          <Button kind="danger" disabled={!mayConfirm} busy={isBusy} onClick={onConfirm}>
            {action}
          </Button>
        </>
      }
    >
      {children}
      {typed !== undefined && (
        <Field
          label={typed.label}
          value={text}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      {error !== undefined && error !== null && <ProblemNotice error={error} />}
    </Dialog>
  )
}
