import { useRef } from "react"
import { pageSize } from "../api/steadyRows.ts"
import { texts } from "../text/texts.ts"
import { Button } from "./Button.tsx"

/** Newer and older pages. There are no page numbers, since no total is known. */
export const Pager = ({
  isLoading,
  onNewer,
  onOlder
}: {
  readonly onNewer: (() => void) | undefined
  readonly onOlder: (() => void) | undefined
  readonly isLoading: boolean
}) => {
  const isShown = useRef(false)
  isShown.current = onNewer !== undefined || onOlder !== undefined || (isLoading && isShown.current)
  if (!isShown.current) return null
  // The pressed button keeps the focus while its page loads, and where there is no further page.
  return (
    <nav className="line" aria-label={texts.pages}>
      <Button icon="left" aria-disabled={onNewer === undefined} onClick={onNewer}>
        {texts.newer}
      </Button>
      <Button aria-disabled={onOlder === undefined} onClick={onOlder}>
        {texts.older}
      </Button>
      <span className="push small muted">{texts.perPage(pageSize)}</span>
    </nav>
  )
}
