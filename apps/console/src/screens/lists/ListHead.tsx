/**
 * The line above the rows of a list: new rows that wait, and live updating.
 */
import { useEffect } from "react"
import { LiveButton } from "../../app/LiveButton.tsx"
import { en } from "../../text/en.ts"
import { announceChange } from "../../ui/announce.ts"
import { Button } from "../../ui/Button.tsx"

export const ListHead = ({
  isFirstPage,
  onShow,
  updatedAt,
  waiting
}: {
  readonly waiting: number
  readonly onShow: () => void
  readonly updatedAt: number
  readonly isFirstPage: boolean
}) => {
  useEffect(() => {
    if (waiting > 0) announceChange(en.list.waiting(waiting))
  }, [waiting])
  return (
    <>
      {waiting > 0 && (
        <Button size="small" icon="retry" onClick={onShow}>
          {en.list.show(waiting)}
        </Button>
      )}
      {isFirstPage ? <LiveButton updatedAt={updatedAt} /> : <span className="small muted">{en.list.olderPage}</span>}
    </>
  )
}
