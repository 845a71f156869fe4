/**
 * Announcements for screen readers, through the one live region of the page.
 */
let region: HTMLElement | null = null
let lastAutomatic = 0

/** Sets the element that announces. */
export const setRegion = (element: HTMLElement | null): void => {
  region = element
}

/** Announces the result of something that the reader did. */
export const announce = (text: string): void => {
  if (region === null) return
  region.textContent = ""
  setTimeout(() => {
    if (region !== null) region.textContent = text
  }, 50)
}

/** Announces a change that the reader did not cause, at most one in ten seconds. */
export const announceChange = (text: string): void => {
  if (Date.now() - lastAutomatic < 10_000) return
  lastAutomatic = Date.now()
  announce(text)
}
