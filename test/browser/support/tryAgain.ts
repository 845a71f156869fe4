/** The button with which a page tries again what failed. */
import type { Locator } from "playwright-core"

/**
 * Presses the button, and waits for what shows that it worked. A page also tries again by itself, so that the button may be gone
 * before it is pressed.
 */
export const tryAgain = async (within: Pick<Locator, "getByRole">, shown: Promise<unknown>): Promise<void> => {
  await Promise.race([within.getByRole("button", { name: "Try again" }).click(), shown])
  await shown
}
