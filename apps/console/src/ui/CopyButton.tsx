import { useEffect, useState } from "react"
import { texts } from "../text/texts.ts"
import { Button } from "./Button.tsx"
import { announce } from "./announce.ts"

/** Copies a text. Tells for two seconds that it did. */
export const CopyButton = ({
  text,
  label,
  withText = false
}: {
  readonly text: string
  readonly label: string
  readonly withText?: boolean
}) => {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 2000)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = () => {
    void navigator.clipboard.writeText(text).then(
      () => {
        setCopied(true)
        announce(texts.copied)
      },
      () => announce(texts.copyFailed)
    )
  }
  const icon = copied ? "check" : "copy"
  return withText ? (
    <Button size="small" icon={icon} onClick={copy}>
      {copied ? texts.copied : label}
    </Button>
  ) : (
    <Button kind="quiet" size="small" icon={icon} onClick={copy} aria-label={label} title={label} />
  )
}
