import type { InvoiceReading } from "@govoice/ksef/reading"
import { useState } from "react"
import { Button } from "../../../ui/Button.tsx"
import { classNames } from "../../../ui/classNames.ts"
import { useWide } from "../../../ui/media.ts"
import { number } from "../../../ui/numbers.ts"
import tableStyles from "../../../ui/Table.module.css"
import { rowsAtFirst } from "./beginning.ts"
import styles from "./Document.module.css"
import { numberOf, textOf, valueOf, words, Words } from "./words.tsx"

const css = classNames(styles)
const table = classNames(tableStyles)

const Cell = ({ cell, isNumber }: { readonly cell: InvoiceReading.Cell; readonly isNumber: boolean }) => {
  if (cell === undefined) return null
  if (typeof cell === "object") return <Words label={cell} />
  return isNumber ? numberOf(cell) : cell
}

const RowFacts = ({ facts }: { readonly facts: ReadonlyArray<InvoiceReading.Fact> }) =>
  facts.length === 0 ? null : (
    <div className={css("below")}>
      {facts.map((fact, index) => (
        <span key={index}>
          {textOf(fact.label)}: {valueOf(fact)}
        </span>
      ))}
    </div>
  )

/** The column below whose cells the facts of a row stand: the first one of text after a number of the line. */
const mainColumn = (columns: ReadonlyArray<InvoiceReading.Column>): number => Math.min(1, columns.length - 1)

/** A table of the document. In a narrow window, each row is a list of names and values. */
export const ReadingTable = ({
  caption,
  table: { columns, rows }
}: {
  readonly caption: string
  readonly table: InvoiceReading.Table
}) => {
  const isWide = useWide(640)
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? rows : rows.slice(0, rowsAtFirst)
  const main = mainColumn(columns)
  return (
    <>
      {isWide ? (
        <div className={css("frame")} tabIndex={0} role="region" aria-label={caption}>
          <table className={table("table")}>
            <caption className="visually-hidden">{caption}</caption>
            <thead>
              <tr>
                {columns.map(({ isNumber, label }, index) => (
                  <th key={index} scope="col" className={css("head") + (isNumber ? ` ${table("number")}` : "")}>
                    <Words label={label} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.map(({ cells, facts, isSum }, row) => (
                <tr key={row} className={css(isSum && "sum")}>
                  {columns.map(({ isNumber }, index) => (
                    <td key={index} className={css("cell", isNumber && "digits")}>
                      <Cell cell={cells[index]} isNumber={isNumber} />
                      {index === main && <RowFacts facts={facts} />}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <ul className={css("cards")} aria-label={caption}>
          {shown.map(({ cells, facts, isSum }, row) => (
            <li key={row} className={table("card")}>
              <dl>
                {isSum === true && <dt className={css("sum")}>{words.sum}</dt>}
                {isSum === true && <dd />}
                {columns.map(({ isNumber, label }, index) =>
                  cells[index] === undefined ? null : (
                    <Entry key={index} label={label}>
                      <Cell cell={cells[index]} isNumber={isNumber} />
                    </Entry>
                  )
                )}
                {facts.map((fact, index) => (
                  <Entry key={`fact${index}`} label={fact.label}>
                    {valueOf(fact)}
                  </Entry>
                ))}
              </dl>
            </li>
          ))}
        </ul>
      )}
      {shown.length < rows.length && (
        <div>
          <Button onClick={() => setWhole(true)}>{words.showRows(number(rows.length))}</Button>
        </div>
      )}
    </>
  )
}

const Entry = ({ children, label }: { readonly children: React.ReactNode; readonly label: InvoiceReading.Label }) => (
  <>
    <dt>
      <Words label={label} />
    </dt>
    <dd>{children}</dd>
  </>
)
