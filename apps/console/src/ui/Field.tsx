import { type ComponentProps, type ReactNode, useId } from "react"
import { classNames } from "./classNames.ts"
import { Icon } from "./Icon.tsx"
import styles from "./Field.module.css"

const css = classNames(styles)

interface Shared {
  readonly label: string
  readonly hint?: ReactNode
  readonly error?: string | undefined
  /** Set if the text is an identifier, a URL or code. */
  readonly isCode?: boolean
}

/** Ties label, hint and error to a control. */
const useField = ({ error, hint }: Shared) => {
  const id = useId()
  const describedBy = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`]
    .filter(Boolean)
    .join(" ")
  return {
    id,
    control: {
      id,
      "aria-invalid": error === undefined ? undefined : true,
      ...(describedBy !== "" && { "aria-describedby": describedBy })
    }
  }
}

const Frame = ({
  children,
  error,
  hint,
  id,
  label
}: Shared & { readonly id: string; readonly children: ReactNode }) => (
  <div className={css("field")}>
    <label className={css("label")} htmlFor={id}>
      {label}
    </label>
    {children}
    {error !== undefined && (
      <p className={css("error")} id={`${id}-error`}>
        <Icon name="warning" />
        <span>{error}</span>
      </p>
    )}
    {hint !== undefined && (
      <p className={css("hint")} id={`${id}-hint`}>
        {hint}
      </p>
    )}
  </div>
)

/** A field for one line of text. */
export const Field = ({ error, hint, isCode, label, ...input }: Shared & ComponentProps<"input">) => {
  const { control, id } = useField({ label, hint, error })
  return (
    <Frame {...{ label, hint, error, id }}>
      <input {...input} {...control} className={css("control", isCode && "code")} />
    </Frame>
  )
}

/** A field for several lines of text. */
export const TextArea = ({ error, hint, isCode, label, ...input }: Shared & ComponentProps<"textarea">) => {
  const { control, id } = useField({ label, hint, error })
  return (
    <Frame {...{ label, hint, error, id }}>
      <textarea spellCheck={false} {...input} {...control} className={css("control", isCode && "code")} />
    </Frame>
  )
}

/** The native list of choices, with an arrow of our own. */
export const SelectControl = (props: ComponentProps<"select">) => (
  <span className={css("select")}>
    <select {...props} className={css("control")} />
    <Icon name="down" />
  </span>
)

/** A field with a list of choices. */
export const Select = ({ error, hint, isCode: _, label, ...select }: Shared & ComponentProps<"select">) => {
  const { control, id } = useField({ label, hint, error })
  return (
    <Frame {...{ label, hint, error, id }}>
      <SelectControl {...select} {...control} />
    </Frame>
  )
}

/** A box or button to tick, with its label and an optional explanation. */
export const Check = ({
  children,
  hint,
  ...input
}: ComponentProps<"input"> & { readonly children: ReactNode; readonly hint?: ReactNode }) => (
  <label className={css("check")}>
    <input type="checkbox" {...input} />
    <span>
      {children}
      {hint !== undefined && <span className={css("hint")}> {hint}</span>}
    </span>
  </label>
)

/** Several boxes under one legend. */
export const Group = ({ children, legend }: { readonly legend: string; readonly children: ReactNode }) => (
  <fieldset className={css("group")}>
    <legend>{legend}</legend>
    {children}
  </fieldset>
)
