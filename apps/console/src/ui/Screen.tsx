import { type ReactNode, useEffect } from "react"
import { Link, useLocation } from "wouter"
import { classNames } from "./classNames.ts"
import { Icon } from "./Icon.tsx"
import { useHeadingFocus } from "./navigation.ts"
import { useOrganizationName } from "./organization.ts"
import styles from "./Screen.module.css"

const css = classNames(styles)

/** A screen: its title in the window and as heading, what leads to it, and what can be done. */
export const Screen = ({
  actions,
  beside,
  children,
  isLive = false,
  parent,
  part,
  title
}: {
  readonly title: string
  /** The part of the screen that is open, before the title of the window. */
  readonly part?: string | undefined
  readonly parent?: { readonly label: string; readonly to: string }
  /** Stands beside the heading. */
  readonly beside?: ReactNode
  readonly actions?: ReactNode
  /** Set on screens of live mode, which have a bar on top. */
  readonly isLive?: boolean
  readonly children: ReactNode
}) => {
  const organization = useOrganizationName()
  const [path] = useLocation()
  const heading = useHeadingFocus<HTMLHeadingElement>(path)
  useEffect(() => {
    document.title = [part, title, organization, "Govoice"].filter(Boolean).join(" · ")
  }, [part, title, organization])
  return (
    <div className={css(isLive && "live")}>
      <div className={css("head")}>
        {parent !== undefined && (
          <Link to={parent.to} className={css("crumb")}>
            {parent.label}
            <Icon name="right" />
          </Link>
        )}
        <h1 ref={heading} tabIndex={-1} className={css("title")}>
          {title}
        </h1>
        {beside}
        {actions !== undefined && <div className={css("aside")}>{actions}</div>}
      </div>
      {children}
    </div>
  )
}
