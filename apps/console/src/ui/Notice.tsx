import type { ReactNode } from "react"
import { problemOf } from "../session/problem.ts"
import { texts } from "../text/texts.ts"
import { Button } from "./Button.tsx"
import { classNames } from "./classNames.ts"
import { CopyButton } from "./CopyButton.tsx"
import { Icon, type IconName } from "./Icon.tsx"
import { Instant } from "./Instant.tsx"
import type { Tone } from "./StatusBadge.tsx"
import { sentenceOf } from "./problems.ts"
import styles from "./Notice.module.css"

const css = classNames(styles)

const icons: Readonly<Record<Tone, IconName>> = {
  good: "check",
  warn: "warning",
  bad: "warning",
  info: "help",
  muted: "help"
}

/** One or two sentences with an icon. */
export const Notice = ({
  children,
  role,
  tone = "muted"
}: {
  readonly tone?: Tone
  readonly role?: "alert" | "status"
  readonly children: ReactNode
}) => (
  <div className={css("notice", tone)} role={role} data-panel="">
    <Icon name={icons[tone]} />
    <div className={css("content")}>{children}</div>
  </div>
)

/** An error with what can be done: try again if that may help, and the request id to quote. */
export const ProblemNotice = ({
  asOf,
  error,
  onRetry
}: {
  readonly error: unknown
  readonly onRetry?: (() => void) | undefined
  /** The time of the data that is still shown. */
  readonly asOf?: number | undefined
}) => {
  const problem = problemOf(error)
  return (
    <Notice tone="bad" role="alert">
      <p>
        {sentenceOf(problem)}
        {asOf !== undefined && asOf > 0 && (
          <>
            {" "}
            {texts.asOf} <Instant at={asOf} form="clock" />.
          </>
        )}
      </p>
      {(problem.requestId !== undefined || (problem.retryable && onRetry !== undefined)) && (
        <div className={css("actions")}>
          {problem.retryable && onRetry !== undefined && (
            <Button size="small" icon="retry" onClick={onRetry}>
              {texts.tryAgain}
            </Button>
          )}
          {problem.requestId !== undefined && (
            <span className="line">
              <code>{problem.requestId}</code>
              <CopyButton text={problem.requestId} label={texts.copyRequestId} />
            </span>
          )}
        </div>
      )}
    </Notice>
  )
}
