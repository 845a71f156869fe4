import { type ReactNode, useEffect } from "react"
import icon from "../styles/icon.svg"
import { classNames } from "./classNames.ts"
import { useHeadingFocus } from "./navigation.ts"
import styles from "./Plain.module.css"

const css = classNames(styles)

/** A screen without the shell: log in, sign up, and what prevents both. */
export const Plain = ({
  below,
  children,
  sentence,
  title
}: {
  readonly title: string
  readonly sentence?: string | undefined
  readonly children?: ReactNode
  /** Stands under the box. */
  readonly below?: ReactNode
}) => {
  const heading = useHeadingFocus<HTMLHeadingElement>(title)
  useEffect(() => {
    document.title = `${title} · Govoice`
  }, [title])
  return (
    <main className={css("plain")}>
      <div className={css("box")}>
        <div className={css("brand")}>
          <img src={icon} alt="" width="28" height="28" />
          Govoice
        </div>
        <div className={css("card")} data-panel="">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {sentence !== undefined && <p className="muted">{sentence}</p>}
          {children}
        </div>
        {below}
      </div>
    </main>
  )
}
