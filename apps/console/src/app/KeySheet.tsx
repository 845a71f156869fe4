import { Fragment } from "react"
import { texts } from "../text/texts.ts"
import { Button } from "../ui/Button.tsx"
import { classNames } from "../ui/classNames.ts"
import { Dialog } from "../ui/Dialog.tsx"
import { Check } from "../ui/Field.tsx"
import { closeOverlay } from "./overlays.ts"
import { setPreference, usePreference } from "../ui/preferences.ts"
import styles from "./KeySheet.module.css"

const css = classNames(styles)

/** The keys of the page. */
const KeySheet = () => {
  const shortcuts = usePreference("shortcuts")
  return (
    <Dialog
      title={texts.keys.title}
      onClose={closeOverlay}
      actions={<Button onClick={closeOverlay}>{texts.close}</Button>}
    >
      <dl className={css("keys")}>
        {texts.keys.list.map(([keys, what]) => (
          <Fragment key={what}>
            <dt>
              {keys.map((key, index) => (
                <Fragment key={key}>
                  {index > 0 && " "}
                  <kbd>{key}</kbd>
                </Fragment>
              ))}
            </dt>
            <dd>{what}</dd>
          </Fragment>
        ))}
      </dl>
      <Check
        checked={shortcuts === "on"}
        onChange={(event) => setPreference("shortcuts", event.target.checked ? "on" : "off")}
      >
        {texts.keys.single}
      </Check>
    </Dialog>
  )
}

export default KeySheet
