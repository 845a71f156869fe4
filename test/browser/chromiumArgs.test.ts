/** The options of the browser beside those of Playwright, which the error of a launch names. No browser is needed. */
import { chromium } from "playwright-core"
import { assert, describe, it } from "vitest"
import { args, popups } from "./support/chromiumArgs.ts"

const disabledFeatures = (text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(/--disable-features=(\S+)/g), ([, features]) => features!)

describe("the options of the browser", () => {
  it("disable all features that Playwright disables", async () => {
    // Node is no browser: it exits at once.
    const refused = await chromium.launch({ executablePath: process.execPath }).catch((error: Error) => error)
    assert.instanceOf(refused, Error)
    const [ofPlaywright] = disabledFeatures(refused.message)
    assert.isDefined(ofPlaywright, "The error of a launch no longer has the options: find another source of them")
    const [ofTests] = disabledFeatures(args.join(" "))
    assert.sameMembers(
      ofTests!.split(","),
      [...ofPlaywright!.split(","), ...popups],
      "Copy the features that this version of playwright-core disables to `disabledByPlaywright`"
    )
  })
})
