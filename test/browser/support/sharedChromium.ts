/** The browser of a run: it starts once, and each file of tests connects to it. Their contexts share its clipboard alone. */
import { chromium } from "playwright-core"
import { sharedSetup } from "../../support/sharedSetup.ts"
import { args } from "./chromiumArgs.ts"
import { chromiumPath } from "./chromiumPath.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** The address of the browser. It is missing where there is no browser, and where each file starts its own. */
    readonly chromium?: string
  }
}

export default sharedSetup("chromium", async () => {
  if (chromiumPath === undefined) return { provided: {}, stop: () => {} }
  const server = await chromium.launchServer({ executablePath: chromiumPath, args, host: "127.0.0.1" })
  return { provided: { chromium: server.wsEndpoint() }, stop: () => server.close() }
})
