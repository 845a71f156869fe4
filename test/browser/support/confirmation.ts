/** Steps that ask before they do something. */
import type { Page } from "playwright-core"
import { assert } from "vitest"

/**
 * Opens the dialog of a step, cancels it with the button that has the focus, opens it again, and confirms it. With `typed`,
 * checks that the confirming button needs exactly these words.
 */
export const cancelThenConfirm = async (page: Page, opener: string, action: string, typed?: string): Promise<void> => {
  const open = page.getByRole("main").getByRole("button", { name: opener, exact: true })
  const dialog = page.getByRole("dialog")
  await open.click()
  await dialog.locator("button:focus", { hasText: "Cancel" }).waitFor()
  await page.keyboard.press("Enter")
  await dialog.waitFor({ state: "detached" })
  await open.click()
  const confirm = dialog.getByRole("button", { name: action, exact: true })
  if (typed !== undefined) {
    await confirm.waitFor()
    assert.isTrue(await confirm.isDisabled(), "needs the typed words")
    await dialog.getByRole("textbox").fill(`${typed}x`)
    assert.isTrue(await confirm.isDisabled(), "other words")
    await dialog.getByRole("textbox").fill(typed)
  }
  await confirm.click()
  await dialog.waitFor({ state: "detached" })
}
