import { shorten } from "../url/ids.ts"
import { texts } from "../text/texts.ts"
import { CopyButton } from "./CopyButton.tsx"
import { classNames } from "./classNames.ts"
import styles from "./Id.module.css"

const css = classNames(styles)

/** An identifier: shortened in the middle, whole when it is copied. */
export const Id = ({ id, whole = false }: { readonly id: string; readonly whole?: boolean }) => (
  <span className={css("id")}>
    <code title={id}>{whole ? id : shorten(id)}</code>
    <CopyButton text={id} label={texts.copyId(id)} />
  </span>
)
