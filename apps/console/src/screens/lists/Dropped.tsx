import { texts } from "../../text/texts.ts"
import { Notice } from "../../ui/Notice.tsx"

/** Tells which parts of the address could not be read, if any. */
export const Dropped = ({ names }: { readonly names: ReadonlyArray<string> }) =>
  names.length === 0 ? null : (
    <Notice tone="warn">
      <p>{texts.list.dropped(names)}</p>
    </Notice>
  )
