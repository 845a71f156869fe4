import { en } from "../text/en.ts"
import { Button } from "./Button.tsx"

/** Newer and older pages. There are no page numbers, since no total is known. */
export const Pager = ({
  onNewer,
  onOlder
}: {
  readonly onNewer: (() => void) | undefined
  readonly onOlder: (() => void) | undefined
}) =>
  onNewer === undefined && onOlder === undefined ? null : (
    <nav className="line" aria-label={en.pages}>
      <Button icon="left" disabled={onNewer === undefined} onClick={onNewer}>
        {en.newer}
      </Button>
      <Button disabled={onOlder === undefined} onClick={onOlder}>
        {en.older}
      </Button>
    </nav>
  )
