/**
 * A request to a receiver from a shell. A test runs it against receivers that cannot be reached.
 */
import type { SnippetForm } from "./SnippetForm.ts"

/** The request for this URL. */
export const reach = (url: string): SnippetForm => ({
  name: "curl",
  // In a URL, only an apostrophe ends the quotes of the shell.
  code: `curl -v -X POST '${url.replaceAll("'", "%27")}'
`
})
