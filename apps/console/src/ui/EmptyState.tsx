import type { ReactNode } from "react"

/** One sentence why there is nothing, and one action. */
export const EmptyState = ({ children, sentence }: { readonly sentence: string; readonly children?: ReactNode }) => (
  <div className="stack-tight">
    <p className="muted">{sentence}</p>
    {children !== undefined && <div className="line">{children}</div>}
  </div>
)
