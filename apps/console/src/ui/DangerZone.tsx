import type { ReactNode } from "react"
import { texts } from "../text/texts.ts"
import { classNames } from "./classNames.ts"
import { Panel } from "./Panel.tsx"
import styles from "./DangerZone.module.css"

const css = classNames(styles)

/** One step that is not easily taken back: its consequence, and the button that asks for it. */
export const Consequence = ({ children, meaning }: { readonly meaning: string; readonly children: ReactNode }) => (
  <li className={css("row")}>
    <span>{meaning}</span>
    {children}
  </li>
)

/** The steps of a record with consequences, at the end of its page. */
export const DangerZone = ({ children }: { readonly children: ReactNode }) => (
  <Panel title={texts.dangerZone} flush>
    <ul>{children}</ul>
  </Panel>
)
