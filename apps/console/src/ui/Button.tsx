import type { ComponentProps, ReactNode } from "react"
import { Link } from "wouter"
import { classNames } from "./classNames.ts"
import { Icon, type IconName } from "./Icon.tsx"
import styles from "./Button.module.css"

const css = classNames(styles)

type Kind = "neutral" | "primary" | "danger" | "quiet"

interface Look {
  readonly kind?: Kind
  readonly size?: "small"
  readonly icon?: IconName
}

const look = ({ icon, kind = "neutral", size }: Look, hasText: boolean) =>
  css("button", kind !== "neutral" && kind, size, icon !== undefined && !hasText && "icon")

type ButtonProps = Look & ComponentProps<"button"> & { readonly busy?: boolean }

/** A button. A button without text needs `aria-label`. A busy button stays in the order of focus and does nothing. */
export const Button = ({
  busy = false,
  children,
  icon,
  kind,
  onClick,
  size,
  type = "button",
  ...rest
}: ButtonProps) => (
  <button
    {...rest}
    type={type === "submit" && busy ? "button" : type}
    aria-busy={busy || undefined}
    className={look({ icon, kind, size } as Look, children !== undefined)}
    onClick={busy ? undefined : onClick}
  >
    {icon !== undefined && <Icon name={icon} />}
    {children}
  </button>
)

/** A link to a screen that looks like a button. */
export const ButtonLink = ({ children, to, ...rest }: Look & { readonly to: string; readonly children: ReactNode }) => (
  <Link to={to} className={look(rest, true)}>
    {rest.icon !== undefined && <Icon name={rest.icon} />}
    {children}
  </Link>
)
