import { Fragment, type KeyboardEvent, type ReactNode, useRef } from "react"
import { Link } from "wouter"
import { preference, usePreference } from "./preferences.ts"
import { classNames } from "./classNames.ts"
import { announce } from "./announce.ts"
import { texts } from "../text/texts.ts"
import { useWide } from "./media.ts"
import { fullTime } from "./times.ts"
import styles from "./Table.module.css"

const css = classNames(styles)

export interface Column<Row> {
  readonly head: string
  readonly cell: (row: Row) => ReactNode
  readonly isNumber?: boolean
  /** Set if a narrow table leaves the column out, or one that is as narrow as a telephone. */
  readonly leftOut?: "narrow" | "narrowest"
}

interface Props<Row> {
  readonly caption: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  readonly idOf: (row: Row) => string
  /** The address of a row. The first cell is its link. */
  readonly addressOf?: ((row: Row) => string) | undefined
  /** The time of a row, which its link tells as a whole. */
  readonly timeOf?: ((row: Row) => string) | undefined
  /** The identifier that `c` copies, if it is not that of the row. */
  readonly copyOf?: ((row: Row) => string) | undefined
  /** The group of a row: rows of one group follow each other, below its name. */
  readonly groupOf?: ((row: Row) => string) | undefined
  /** The words in place of the table. */
  readonly empty: ReactNode
}

/** Moves focus between the rows with j and k, and copies the identifier of the focused row with c. */
const rowKeys = (event: KeyboardEvent<HTMLElement>): void => {
  if (preference("shortcuts") === "off" || event.ctrlKey || event.metaKey || event.altKey) return
  const row = (event.target as HTMLElement).closest<HTMLElement>("[data-row]")
  if (row === null) return
  if (event.key === "c") {
    void navigator.clipboard.writeText(row.dataset["copy"]!).then(() => announce(texts.copied))
    return
  }
  if (event.key !== "j" && event.key !== "k") return
  const next = (from: Element) => (event.key === "j" ? from.nextElementSibling : from.previousElementSibling)
  let other = next(row)
  // The name of a group is no row.
  while (other !== null && !other.matches("[data-row]")) other = next(other)
  other?.querySelector<HTMLElement>("a, button")?.focus()
}

const First = ({
  address,
  children,
  time
}: {
  readonly address: string | undefined
  readonly time: string | undefined
  readonly children: ReactNode
}) =>
  address === undefined ? (
    children
  ) : (
    <Link to={address} className={css("link")} title={time && fullTime(Date.parse(time))}>
      {children}
    </Link>
  )

/** A table. Below 640 px, each row is a list of names and values in the same order. */
export const Table = <Row,>({
  addressOf,
  caption,
  columns,
  copyOf,
  empty,
  groupOf,
  idOf,
  rows,
  timeOf
}: Props<Row>) => {
  usePreference("timeZone")
  const attributes = (row: Row) => ({ "data-row": idOf(row), "data-copy": (copyOf ?? idOf)(row) })
  const firstOf = (row: Row, content: ReactNode) => (
    <First address={addressOf?.(row)} time={timeOf?.(row)}>
      {content}
    </First>
  )
  const isWide = useWide(640)
  const frame = useRef<HTMLDivElement>(null)
  if (rows.length === 0) return <div className={css("empty")}>{empty}</div>
  const headOf = (row: Row, index: number): string | undefined => {
    const group = groupOf?.(row)
    return index > 0 && groupOf?.(rows[index - 1]!) === group ? undefined : group
  }
  if (!isWide)
    return (
      <ul className={css("cards")} aria-label={caption} onKeyDown={rowKeys}>
        {rows.map((row, index) => (
          <li key={idOf(row)} {...attributes(row)} className={css("card", "row")}>
            {headOf(row, index) !== undefined && <h3 className={css("group")}>{headOf(row, index)}</h3>}
            <dl>
              {columns.map(({ cell, head }, index) => {
                const content = cell(row)
                if (content === null || content === "") return null
                return (
                  <CardLine key={head} head={head}>
                    {index === 0 ? firstOf(row, content) : content}
                  </CardLine>
                )
              })}
            </dl>
          </li>
        ))}
      </ul>
    )
  return (
    <div className={css("frame")} ref={frame}>
      <table className={css("table")} onKeyDown={rowKeys}>
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ head, isNumber, leftOut }) => (
              <th key={head} scope="col" className={css(isNumber && "number", leftOut)}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <Fragment key={idOf(row)}>
              {headOf(row, index) !== undefined && (
                <tr>
                  <th colSpan={columns.length} scope="rowgroup" className={css("group")}>
                    {headOf(row, index)}
                  </th>
                </tr>
              )}
              <tr {...attributes(row)} className={css("row")}>
                {columns.map(({ cell, head, isNumber, leftOut }, index) => (
                  <td key={head} className={css(isNumber && "number", leftOut)}>
                    {index === 0 ? firstOf(row, cell(row)) : cell(row)}
                  </td>
                ))}
              </tr>
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const CardLine = ({ children, head }: { readonly head: string; readonly children: ReactNode }) => (
  <>
    <dt>{head}</dt>
    <dd>{children}</dd>
  </>
)
