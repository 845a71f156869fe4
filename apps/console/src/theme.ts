/**
 * Applies the stored theme and density before the first paint. Loaded first, as a script of its own.
 */
const root = document.documentElement
for (const name of ["theme", "density"]) {
  try {
    const value = localStorage.getItem(`govoice.${name}`)
    if (value !== null) root.dataset[name] = value
  } catch {
    // Storage is blocked: the theme of the system applies.
  }
}
