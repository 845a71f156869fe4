import { curlSubmission, sdkSubmission } from "../snippets/submission.ts"
import { en } from "../text/en.ts"
import { Snippet } from "./Snippet.tsx"

/** The code that submits an invoice with a test key. */
export const SubmissionSnippet = () => (
  <Snippet
    label={en.checklist.invoiceSnippet}
    forms={[curlSubmission(location.origin), sdkSubmission(location.origin)]}
  />
)
