import { curlSubmission, sdkSubmission } from "../snippets/submission.ts"
import { texts } from "../text/texts.ts"
import { Snippet } from "./Snippet.tsx"

/** The code that submits an invoice with a test key. */
export const SubmissionSnippet = () => (
  <Snippet
    label={texts.checklist.invoiceSnippet}
    forms={[curlSubmission(location.origin), sdkSubmission(location.origin)]}
  />
)
