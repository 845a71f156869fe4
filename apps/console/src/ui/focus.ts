/**
 * Focus after a step that removes the control that was pressed.
 */

/** Focuses the first of these elements after the next frame, when the page shows the result of the step. */
export const focusSoon = (...selectors: ReadonlyArray<string>): void => {
  requestAnimationFrame(() => {
    for (const selector of selectors) {
      const found = document.querySelector<HTMLElement>(selector)
      if (found !== null) return found.focus()
    }
  })
}

/** The heading of the screen. */
export const heading = "main h1"

/** The first row that can be focused. */
export const firstRow = "[data-row] :is(a, button)"

/** The first filter of a list. */
export const firstFilter = "[data-filters] :is(a, button, select, input)"
