/** One form of a snippet: its name and its text. */
export interface SnippetForm {
  readonly name: string
  readonly code: string
}
