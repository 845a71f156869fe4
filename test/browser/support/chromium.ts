/**
 * The browser of the tests: the Chromium that is installed. Without one, the tests are skipped, and fail in CI.
 *
 * Every page of a context is watched: a violation of the policy of the page, an error in the console, or a request to another
 * origin is a fault of the test.
 */
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from "playwright-core"
import { assert, inject } from "vitest"
import { args } from "./chromiumArgs.ts"
import { chromiumPath, chromiumRemedy } from "./chromiumPath.ts"
import { ownClipboards } from "./clipboard.ts"

/** Whether the browser tests are skipped. */
export const isMissing = chromiumPath === undefined

if (isMissing) {
  if (process.env["CI"] !== undefined) throw new Error(chromiumRemedy)
  console.warn(`The browser tests are skipped. ${chromiumRemedy}`)
}

/** Connects to the browser of the run, or starts one. */
export const launch = (): Promise<Browser> => {
  const shared = inject("chromium")
  return shared === undefined ? chromium.launch({ executablePath: chromiumPath!, args }) : chromium.connect(shared)
}

/** A context whose pages are watched. */
export interface Watched {
  readonly context: BrowserContext
  /** Fails if a page did what it must not do, and closes the context. */
  readonly end: () => Promise<void>
}

/** Errors of the console that a test causes on purpose. */
export interface WatchOptions {
  /** Matches the text and the URL of an error that is expected. */
  readonly expected?: RegExp
  /** How the browser presents itself. */
  readonly context?: BrowserContextOptions
}

// The first refresh of a browser without a login is refused, and Chromium logs each refused request.
const refusedRefresh = /status of 401 .*\/console\/session\/refresh/

/** Opens a context for the pages of one origin. */
export const watch = async (browser: Browser, origin: string, options: WatchOptions = {}): Promise<Watched> => {
  const { context: presented, expected } = options
  const faults: Array<string> = []
  const context = await browser.newContext(presented)
  context.setDefaultTimeout(60_000)
  await ownClipboards(context)
  await context.addInitScript({
    content: `addEventListener("securitypolicyviolation", (event) => console.error("policy violated: " + event.violatedDirective + " " + event.blockedURI))`
  })
  context.on("console", (message) => {
    if (message.type() !== "error") return
    const text = `${message.text()} ${message.location().url}`
    if (!refusedRefresh.test(text) && expected?.test(text) !== true) faults.push(text)
  })
  context.on("weberror", (error) => faults.push(error.error().message))
  context.on("request", (request) => {
    const url = new URL(request.url())
    if (url.protocol !== "blob:" && url.origin !== origin) faults.push(`requested ${request.url()}`)
  })
  return {
    context,
    end: async () => {
      await context.close()
      assert.deepStrictEqual(faults, [])
    }
  }
}
