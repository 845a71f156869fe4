import { Link } from "wouter"
import { classNames } from "./classNames.ts"
import styles from "./Tabs.module.css"

const css = classNames(styles)

interface Tab {
  readonly to: string
  readonly label: string
  readonly isCurrent: boolean
}

/** Tabs that are links: each has an address. */
export const Tabs = ({ label, tabs }: { readonly label: string; readonly tabs: ReadonlyArray<Tab> }) => (
  <nav className={css("tabs")} aria-label={label}>
    {tabs.map(({ isCurrent, label, to }) => (
      <Link key={to} to={to} className={css("tab")} aria-current={isCurrent ? "page" : undefined}>
        {label}
      </Link>
    ))}
  </nav>
)
