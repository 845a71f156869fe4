import type { ReactNode } from "react"
import { Link } from "wouter"
import { classNames } from "../../ui/classNames.ts"
import styles from "./Sum.module.css"

const css = classNames(styles)

/** Counts that lead to the list of their records. Only trouble has a color. */
export const Sum = ({
  entries
}: {
  readonly entries: ReadonlyArray<
    readonly [label: string, value: ReactNode, to: string, tone?: "warn" | "bad" | undefined]
  >
}) => (
  <dl className={css("sum")}>
    {entries.map(([label, value, to, tone]) => (
      <div key={label} className={css("entry", tone)} data-panel="">
        <dt>
          <Link to={to}>{label}</Link>
        </dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)
