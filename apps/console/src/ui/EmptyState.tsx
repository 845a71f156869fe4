import type { ReactNode } from "react"

/** One sentence why there is nothing, one action, and a snippet. */
export const EmptyState = ({
  children,
  sentence,
  snippet
}: {
  readonly sentence: string
  readonly children?: ReactNode
  readonly snippet?: ReactNode
}) => (
  <div className="stack-tight">
    <p className="muted">{sentence}</p>
    {children !== undefined && <div className="line">{children}</div>}
    {snippet}
  </div>
)
