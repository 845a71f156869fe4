import { texts } from "../text/texts.ts"
import { classNames } from "./classNames.ts"
import styles from "./Skeleton.module.css"

const css = classNames(styles)

/** Content that is on its way, in its shape: lines, the rows of a table, figures in boxes, or a chart. Appears after 150 ms. */
export const Skeleton = ({
  lines = 4,
  rows = false,
  shape
}: {
  readonly lines?: number
  readonly rows?: boolean
  readonly shape?: "figures" | "chart"
}) => (
  <div className={css("skeleton", rows && "rows", shape)} role="status" aria-label={texts.loading}>
    {Array.from({ length: shape === "chart" ? 24 : lines }, (_, line) => (
      <span key={line} className={css("bar")} />
    ))}
  </div>
)
