import { texts } from "../text/texts.ts"
import { classNames } from "./classNames.ts"
import { Icon, type IconName } from "./Icon.tsx"
import styles from "./Badge.module.css"

const css = classNames(styles)

export type Tone = "good" | "warn" | "bad" | "info" | "muted"

const looks: Readonly<Record<string, readonly [IconName, Tone]>> = {
  succeeded: ["check", "good"],
  accepted: ["check", "good"],
  retrying: ["retry", "warn"],
  failed: ["cross", "bad"],
  rejected: ["cross", "bad"],
  pending: ["dotted", "info"],
  queued: ["dotted", "info"],
  delivering: ["play", "info"],
  submitting: ["play", "info"],
  submitted: ["play", "info"],
  endpoint_disabled: ["off", "muted"]
}

/** Returns the tone of a status. A status that is not known is neutral. */
export const toneOf = (status: string): Tone => looks[status]?.[1] ?? "muted"

/** The icon of a status. */
export const iconOf = (status: string): IconName => looks[status]?.[0] ?? "dotted"

/** Returns the meaning of a status. An invoice and a delivery have statuses of one name. About a test invoice, the sandbox decides. */
export const meaningOf = (of: "invoice" | "delivery", status: string, mode?: string): string | undefined =>
  (of === "invoice" && mode === "test" ? texts.meanings.testInvoice[status] : undefined) ?? texts.meanings[of][status]

/** The status of an invoice or a delivery: icon, word and color. Successes are quiet in a list. */
export const StatusBadge = ({
  mode,
  of,
  status,
  quiet = false
}: {
  readonly of: "invoice" | "delivery"
  readonly status: string
  /** Of an invoice. */
  readonly mode?: string
  readonly quiet?: boolean
}) => {
  const tone = toneOf(status)
  return (
    <span
      className={css("badge", tone, quiet && tone === "good" && "plain")}
      data-badge=""
      title={meaningOf(of, status, mode)}
    >
      <Icon name={iconOf(status)} />
      {texts.status[of][status] ?? status}
    </span>
  )
}

/** A word with a tone, for states that are no status of the API. */
export const Badge = ({
  icon,
  text,
  tone
}: {
  readonly icon: IconName
  readonly text: string
  readonly tone: Tone
}) => (
  <span className={css("badge", tone)} data-badge="">
    <Icon name={icon} />
    {text}
  </span>
)

/** Test or live, always as a word. */
export const ModeBadge = ({ mode }: { readonly mode: string }) => (
  <span className={css("badge", "mode", mode === "live" && "live")} data-badge="">
    {mode === "live" ? texts.mode.live : texts.mode.test}
  </span>
)
