/**
 * Pages of a list by cursor. The cursor is in the address; the way back is in the history entry.
 */
import { useLocation } from "wouter"
import { useHistoryState } from "wouter/use-browser-location"

interface PageState {
  /** The cursors of newer pages, the first page excluded. */
  readonly newer?: ReadonlyArray<string>
}

/** Returns what the buttons of the pager do. */
export const usePages = (
  cursor: string | undefined,
  nextCursor: string | null | undefined,
  addressOf: (cursor: string | undefined) => string
) => {
  const [, navigate] = useLocation()
  const { newer = [] } = useHistoryState<PageState | null>() ?? {}
  const go = (to: string | undefined, state: PageState) => {
    navigate(addressOf(to), { state })
    scrollTo(0, 0)
  }
  return {
    isLoading: nextCursor === undefined,
    // An address that was pasted has no way back: the first page is the newest.
    onNewer: cursor === undefined ? undefined : () => go(newer.at(-1), { newer: newer.slice(0, -1) }),
    onOlder: nextCursor ? () => go(nextCursor, { newer: cursor === undefined ? [] : [...newer, cursor] }) : undefined
  }
}
