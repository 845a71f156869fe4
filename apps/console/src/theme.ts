/**
 * Applies the stored theme and density before the first paint, and begins the first refresh of the login: neither waits for the
 * other scripts. Loaded first, as a script of its own.
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

// `session/routes.ts` takes the answer. The lock is the one of `session/tabs.ts`.
if (isSecureContext) {
  globalThis.govoiceRefresh = navigator.locks
    .request("govoice.session", () =>
      fetch("/console/session/refresh", {
        method: "POST",
        credentials: "same-origin",
        redirect: "error",
        headers: { "content-type": "application/json" },
        body: "{}"
      })
    )
    .catch(() => undefined)
}
