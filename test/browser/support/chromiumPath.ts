/** Finds the Chromium that is installed. */
import { existsSync } from "node:fs"

/** The file of the browser, or `undefined` where there is none. */
export const chromiumPath = [process.env["CHROMIUM_PATH"], "/usr/bin/chromium", "/usr/bin/chromium-browser"].find(
  (path) => path !== undefined && existsSync(path)
)

/** Says how to get one. */
export const chromiumRemedy = "No Chromium. Install it (apt-get install chromium), or set CHROMIUM_PATH."
