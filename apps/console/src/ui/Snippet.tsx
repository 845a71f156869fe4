import { useState } from "react"
import type { SnippetForm } from "../snippets/SnippetForm.ts"
import { texts } from "../text/texts.ts"
import { classNames } from "./classNames.ts"
import { CopyButton } from "./CopyButton.tsx"
import { highlight } from "./highlight.ts"
import styles from "./Snippet.module.css"

const css = classNames(styles)

/** A command beside the code: what it does, and a button that copies it. */
const Command = ({ command, label }: { readonly label: string; readonly command: string }) => (
  <div className={css("command")}>
    <span className={css("label")}>{label}</span>
    <code>{command}</code>
    <span className="push">
      <CopyButton text={command} label={texts.copySnippet(command)} />
    </span>
  </div>
)

/** Code to copy, in one form or in several: what to install, the code with the name of its file, and how to run it. */
export const Snippet = ({ forms, label }: { readonly forms: ReadonlyArray<SnippetForm>; readonly label: string }) => {
  const [chosen, setChosen] = useState(0)
  const { code, file, install, name, run } = forms[chosen] ?? forms[0]!
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
      </div>
      {install !== undefined && <Command label={texts.snippet.install} command={install} />}
      <div className={css("program")}>
        <p className={css("file")}>{file === undefined ? texts.snippet.run : texts.snippet.save(file)}</p>
        <span className={css("copy")}>
          <CopyButton text={code} label={texts.copySnippet(name)} />
        </span>
        <pre className={css("code")} tabIndex={0} aria-label={`${label}: ${name}`} role="region">
          <code>
            {highlight(code).map(([kind, text], index) =>
              kind === undefined ? (
                text
              ) : (
                <span key={index} className={css(kind)}>
                  {text}
                </span>
              )
            )}
          </code>
        </pre>
      </div>
      {run !== undefined && <Command label={texts.snippet.run} command={run} />}
    </div>
  )
}
