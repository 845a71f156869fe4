import { type ReactNode, useId, useRef } from "react"
import { Link } from "wouter"
import { classNames } from "./classNames.ts"
import { Icon, type IconName } from "./Icon.tsx"
import styles from "./Menu.module.css"

const css = classNames(styles)

/** The greatest width of a menu, and its least distance from the edge of the window, in pixels. The style sheet has both. */
const widest = 360
const margin = 8

/** A button that opens a list of links and buttons. A native popover: Escape and a click elsewhere close it. */
export const Menu = ({
  align = "start",
  button,
  buttonClass,
  children,
  label
}: {
  readonly label: string
  readonly button: ReactNode
  readonly buttonClass: string
  readonly align?: "start" | "end"
  readonly children: ReactNode
}) => {
  const id = useId()
  const opener = useRef<HTMLButtonElement>(null)
  const place = (element: HTMLElement) => {
    const { bottom, left, right } = opener.current!.getBoundingClientRect()
    const { clientWidth: width } = document.documentElement
    const needed = Math.min(widest, width - 2 * margin)
    const fitsAtEnd = right - needed >= margin
    const isAtEnd = fitsAtEnd && (align === "end" || left + needed > width - margin)
    element.style.top = `${bottom + 4}px`
    element.style.right = isAtEnd ? `${width - right}px` : "auto"
    element.style.left = isAtEnd ? "auto" : `${Math.min(left, width - margin - needed)}px`
  }
  return (
    <>
      <button ref={opener} type="button" className={buttonClass} popoverTarget={id} aria-label={label}>
        {button}
      </button>
      <div
        id={id}
        popover="auto"
        className={css("menu")}
        onBeforeToggle={(event) => {
          if (event.newState === "open") place(event.currentTarget)
        }}
        onClick={(event) => {
          if ((event.target as HTMLElement).closest("a, button") !== null) event.currentTarget.hidePopover()
        }}
      >
        {children}
      </div>
    </>
  )
}

/** The class of a plain link in a menu, which leaves the console. */
export const menuItem = css("item")

export const MenuLink = ({
  children,
  icon,
  isCurrent = false,
  to
}: {
  readonly to: string
  readonly icon?: IconName
  readonly isCurrent?: boolean
  readonly children: ReactNode
}) => (
  <Link to={to} className={css("item", isCurrent && "current")} aria-current={isCurrent || undefined}>
    {icon !== undefined && <Icon name={icon} />}
    {children}
  </Link>
)

export const MenuButton = ({
  children,
  icon,
  onClick
}: {
  readonly icon?: IconName
  readonly onClick: () => void
  readonly children: ReactNode
}) => (
  <button type="button" className={css("item")} onClick={onClick}>
    {icon !== undefined && <Icon name={icon} />}
    {children}
  </button>
)

export const MenuRule = () => <hr className={css("rule")} />

export const MenuNote = ({ children }: { readonly children: ReactNode }) => <p className={css("note")}>{children}</p>
