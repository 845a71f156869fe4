/**
 * The line above the rows of a list: new rows that wait, and how old the rows are.
 */
import { useEffect } from "react"
import { Updated } from "../../ui/Updated.tsx"
import { texts } from "../../text/texts.ts"
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
    if (waiting !== undefined) announceChange(texts.list.waiting(waiting))
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
          {texts.list.show(waiting)}
        </Button>
      )}
      <span className="small muted">{texts.list.newestFirst}</span>
      {isFirstPage ? <Updated updatedAt={updatedAt} /> : <span className="small muted">{texts.list.olderPage}</span>}
    </>
  )
}
