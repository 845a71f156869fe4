/**
 * Applies the language, the stored theme and density before the first paint, and refreshes the login of the page: neither waits for the other
 * scripts. Loaded first, as a script of its own.
 */
import type { FirstRefresh, Granted } from "./session/routes.ts"
import type { TabMessage } from "./session/tabs.ts"

const root = document.documentElement
for (const name of ["theme", "density"]) {
  try {
    const value = localStorage.getItem(`govoice.${name}`)
    if (value !== null) root.dataset[name] = value
  } catch {
    // Storage is blocked: the theme of the system applies.
  }
}

// The language that was chosen in the account, or the first of the browser (`Accept-Language`) that the console has.
const known = ["en", "pl"]
let chosen: string | null = null
try {
  chosen = localStorage.getItem("govoice.language")
} catch {
  // Storage is blocked: the language of the browser applies.
}
const languages = [chosen, ...navigator.languages].map((name) => name?.slice(0, 2).toLowerCase())
root.lang = languages.find((name) => name !== undefined && known.includes(name)) ?? "en"

// Until `session/routes.ts` takes the result, each message of another tab replaces it. Lock and channel are those of
// `session/tabs.ts`.
if (isSecureContext) {
  const channel = new BroadcastChannel("govoice.session")
  let latest: FirstRefresh
  channel.addEventListener("message", ({ data }: MessageEvent<TabMessage>) => {
    latest = data
  })
  const isRenewed = () => latest !== undefined && "accessToken" in latest

  const refresh = async () => {
    // The message of the tab that refreshed before may arrive after its lock was released.
    if (!isRenewed()) await new Promise((resolve) => setTimeout(resolve, 0))
    if (isRenewed()) return
    latest = undefined
    const response = await fetch("/console/session/refresh", {
      method: "POST",
      credentials: "same-origin",
      redirect: "error",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ language: root.lang })
    })
    const answeredAt = Date.now()
    if (!response.ok) {
      latest ??= response
      return
    }
    const { access_token: accessToken, expires_in } = (await response.json()) as Granted
    if (latest !== undefined) return
    latest = { type: "renewed", accessToken, expiresAt: answeredAt + expires_in * 1000 }
    channel.postMessage(latest)
  }

  globalThis.govoiceRefresh = () => {
    channel.close()
    return latest
  }
  navigator.locks.request("govoice.session", refresh).catch(() => {})
}
