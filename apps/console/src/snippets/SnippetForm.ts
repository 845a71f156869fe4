/** One form of a snippet: its name and its text. */
export interface SnippetForm {
  readonly name: string
  readonly code: string
  /** The command that installs what the code imports. */
  readonly install?: string
  /** The file to save the code as, and the command that runs it. */
  readonly file?: string
  readonly run?: string
}
