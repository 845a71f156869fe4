import { type ReactNode, useState } from "react"
import { useLeaveGuard } from "./leaving.ts"
import { texts } from "../text/texts.ts"
import { Button } from "./Button.tsx"
import { classNames } from "./classNames.ts"
import { CopyButton } from "./CopyButton.tsx"
import { Dialog } from "./Dialog.tsx"
import { Check } from "./Field.tsx"
import { Notice } from "./Notice.tsx"
import styles from "./SecretOnce.module.css"

const css = classNames(styles)

/**
 * Shows a secret, once. Only its button closes it, after the owner has confirmed that the secret is stored. Until then, leaving
 * the screen asks first.
 */
export const SecretOnce = ({
  children,
  onClose,
  secret,
  title,
  variable
}: {
  readonly title: string
  readonly secret: string
  /** The environment variable of the copied `export` line. */
  readonly variable: string
  readonly onClose: () => void
  readonly children?: ReactNode
}) => {
  const [isStored, setStored] = useState(false)
  useLeaveGuard(!isStored)
  return (
    <Dialog
      size="wide"
      title={title}
      actions={
        <Button kind="primary" disabled={!isStored} onClick={onClose}>
          {texts.secret.done}
        </Button>
      }
    >
      <Notice tone="warn">
        <p>{texts.secret.once}</p>
      </Notice>
      <code className={css("secret")} data-print="hidden" data-secret="">
        {secret}
      </code>
      <div className="line">
        <CopyButton text={secret} label={texts.secret.copy} withText />
        <CopyButton text={`export ${variable}=${secret}`} label={texts.secret.copyExport(variable)} withText />
      </div>
      {children}
      <Check checked={isStored} onChange={(event) => setStored(event.target.checked)}>
        {texts.secret.stored}
      </Check>
    </Dialog>
  )
}
