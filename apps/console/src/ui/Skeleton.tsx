import { en } from "../text/en.ts"
import { classNames } from "./classNames.ts"
import styles from "./Skeleton.module.css"

const css = classNames(styles)

/** The shape of content that is on its way. Appears after 150 ms. */
export const Skeleton = ({ lines = 4, rows = false }: { readonly lines?: number; readonly rows?: boolean }) => (
  <div className={css("skeleton", rows && "rows")} role="status" aria-label={en.loading}>
    {Array.from({ length: lines }, (_, line) => (
      <span key={line} className={css("bar")} />
    ))}
  </div>
)
