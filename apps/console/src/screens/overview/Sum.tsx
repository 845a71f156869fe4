import type { ReactNode } from "react"
import { Link } from "wouter"
import { classNames } from "../../ui/classNames.ts"
import styles from "./Sum.module.css"

const css = classNames(styles)

/** A figure, and the list of its records if it has one. */
export interface Entry {
  readonly label: string
  readonly value: ReactNode
  /** Stands below the figure. */
  readonly note?: ReactNode
  readonly to?: string
  readonly tone?: "warn" | "bad" | undefined
}

/** Figures that lead to the list of their records. Only trouble has a color. */
export const Sum = ({ entries }: { readonly entries: ReadonlyArray<Entry> }) => (
  <dl className={css("sum")}>
    {entries.map(({ label, note, to, tone, value }) => (
      <div key={label} className={css("entry", to !== undefined && "linked", tone)} data-panel="">
        <dt>{to === undefined ? label : <Link to={to}>{label}</Link>}</dt>
        <dd>
          <span className={css("value")}>{value}</span>
          {note !== undefined && <span className={css("note")}>{note}</span>}
        </dd>
      </div>
    ))}
  </dl>
)
