/** A clipboard for each page. That of the browser belongs to all its contexts, and so to all files of a run. */
import type { BrowserContext } from "playwright-core"

// Runs in the page. Writes take place in the browser, too, so that a page without the permission fails as it would.
const ownClipboard = `{
  const { clipboard } = navigator
  if (clipboard !== undefined) {
    let copied = ""
    const write = clipboard.writeText.bind(clipboard)
    clipboard.writeText = async (text) => {
      await write(text)
      copied = text
    }
    clipboard.readText = async () => copied
  }
}`

/** Lets the pages of a context read what they wrote themselves, and nothing of other contexts. */
export const ownClipboards = (context: BrowserContext): Promise<unknown> =>
  context.addInitScript({ content: ownClipboard })
