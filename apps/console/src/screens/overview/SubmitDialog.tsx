import { texts } from "../../text/texts.ts"
import { Button } from "../../ui/Button.tsx"
import { Dialog } from "../../ui/Dialog.tsx"
import { SubmitInvoice } from "./SubmitInvoice.tsx"

/** The dialog from which a sandbox invoice is submitted. */
const SubmitDialog = ({ onClose, org }: { readonly org: string; readonly onClose: () => void }) => (
  <Dialog title={texts.submit.title} onClose={onClose} actions={<Button onClick={onClose}>{texts.close}</Button>}>
    <p className="muted">{texts.submit.meaning}</p>
    <SubmitInvoice org={org} />
  </Dialog>
)

export default SubmitDialog
