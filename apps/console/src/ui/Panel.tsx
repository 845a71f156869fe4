import { Fragment, type ReactNode, useId } from "react"
import { classNames } from "./classNames.ts"
import styles from "./Panel.module.css"

const css = classNames(styles)

/** A part of a screen with its heading. */
export const Panel = ({
  aside,
  children,
  flush = false,
  title
}: {
  readonly title: string
  readonly aside?: ReactNode
  readonly children: ReactNode
  /** Set if the content reaches the edges, as a table does. */
  readonly flush?: boolean
}) => {
  const id = useId()
  return (
    <section className={css("panel")} aria-labelledby={id} data-panel="">
      <div className={css("head")}>
        <h2 id={id}>{title}</h2>
        {aside !== undefined && <div className="push line">{aside}</div>}
      </div>
      <div className={css("body", flush && "flush")}>{children}</div>
    </section>
  )
}

/** Names and values. Entries without a value are left out. */
export const Facts = ({ entries }: { readonly entries: ReadonlyArray<readonly [string, ReactNode]> }) => (
  <dl className={css("facts")}>
    {entries.map(([name, value]) =>
      value === null || value === undefined || value === false ? null : (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      )
    )}
  </dl>
)
