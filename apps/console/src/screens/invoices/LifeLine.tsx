import type { Invoice } from "@govoice/client"
import { texts } from "../../text/texts.ts"
import { classNames } from "../../ui/classNames.ts"
import { Instant } from "../../ui/Instant.tsx"
import styles from "./Invoice.module.css"

const css = classNames(styles)

interface Step {
  readonly name: string
  readonly isPassed: boolean
  readonly isEnd?: boolean
  readonly at: string | null
}

/** The steps of an invoice, those that it passed and those ahead of it. */
export const stepsOf = ({
  completedAt,
  createdAt,
  status,
  submittedAt,
  updatedAt,
  upoAvailable
}: Invoice): ReadonlyArray<Step> => {
  const isAccepted = status === "accepted"
  const hasFailed = status === "rejected" || status === "failed"
  const start = [
    { name: texts.status.invoice["queued"]!, isPassed: true, at: createdAt },
    { name: texts.status.invoice["submitted"]!, isPassed: submittedAt !== null, at: submittedAt }
  ]
  return hasFailed
    ? [
        ...start.filter(({ isPassed }) => isPassed),
        { name: texts.status.invoice[status]!, isPassed: true, isEnd: true, at: completedAt }
      ]
    : [
        ...start,
        { name: texts.status.invoice["accepted"]!, isPassed: isAccepted, at: isAccepted ? completedAt : null },
        // The receipt is the last change of an invoice.
        { name: texts.invoice.upo, isPassed: upoAvailable, at: upoAvailable ? updatedAt : null }
      ]
}

export const LifeLine = ({ invoice }: { readonly invoice: Invoice }) => (
  <ol className={css("life")} aria-label={texts.invoice.life}>
    {stepsOf(invoice).map(({ at, isEnd, isPassed, name }) => (
      <li key={name} className={css("step", isPassed && "passed", isEnd && "ended")}>
        <span>
          {name}
          <span className="visually-hidden"> {isPassed ? texts.invoice.passed : texts.invoice.ahead}</span>
        </span>
        {at !== null && (
          <span className={css("at")}>
            <Instant at={at} />
          </span>
        )}
      </li>
    ))}
  </ol>
)
