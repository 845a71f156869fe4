import { useState } from "react"
import type { SnippetForm } from "../snippets/SnippetForm.ts"
import { en } from "../text/en.ts"
import { classNames } from "./classNames.ts"
import { CopyButton } from "./CopyButton.tsx"
import styles from "./Snippet.module.css"

const css = classNames(styles)

/** Code to copy, in one form or in several. */
export const Snippet = ({ forms, label }: { readonly forms: ReadonlyArray<SnippetForm>; readonly label: string }) => {
  const [chosen, setChosen] = useState(0)
  const { code, name } = forms[chosen] ?? forms[0]!
  return (
    <div className={css("snippet")}>
      <div className={css("head")}>
        <div className={css("choices")} role="group" aria-label={label}>
          {forms.map((form, index) => (
            <button
              key={form.name}
              type="button"
              className={css("choice")}
              aria-pressed={index === chosen}
              onClick={() => setChosen(index)}
            >
              {form.name}
            </button>
          ))}
        </div>
        <span className="push">
          <CopyButton text={code} label={en.copySnippet(name)} />
        </span>
      </div>
      <pre className={css("code")} tabIndex={0} aria-label={`${label}: ${name}`} role="region">
        <code>{code}</code>
      </pre>
    </div>
  )
}
