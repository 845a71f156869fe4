/**
 * The line above the rows of a list: new rows that wait, and live updating.
 */
import { useEffect } from "react"
import { LiveButton } from "../../ui/LiveButton.tsx"
import { en } from "../../text/en.ts"
import { announceChange } from "../../ui/announce.ts"
import { Button } from "../../ui/Button.tsx"
import { firstRow, focusSoon, heading } from "../../ui/focus.ts"

export const ListHead = ({
  isFirstPage,
  onShow,
  updatedAt,
  waiting
}: {
  /** The number of new rows, if there are any. */
  readonly waiting: string | undefined
  readonly onShow: () => void
  readonly updatedAt: number
  readonly isFirstPage: boolean
}) => {
  useEffect(() => {
    if (waiting !== undefined) announceChange(en.list.waiting(waiting))
  }, [waiting])
  return (
    <>
      {waiting !== undefined && (
        <Button
          size="small"
          icon="retry"
          onClick={() => {
            onShow()
            focusSoon(firstRow, heading)
          }}
        >
          {en.list.show(waiting)}
        </Button>
      )}
      <span className="small muted">{en.list.newestFirst}</span>
      {isFirstPage ? <LiveButton updatedAt={updatedAt} /> : <span className="small muted">{en.list.olderPage}</span>}
    </>
  )
}
