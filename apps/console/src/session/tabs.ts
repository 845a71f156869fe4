/**
 * Messages between the tabs of one browser: a new access token, and the end of a login.
 */
export type TabMessage =
  | { readonly type: "renewed"; readonly accessToken: string; readonly expiresAt: number }
  | { readonly type: "loggedOut" }

const channel = new BroadcastChannel("govoice.session")

/** Sends a message to the other tabs. */
export const tellTabs = (message: TabMessage): void => channel.postMessage(message)

/** Calls the listener with messages of other tabs. */
export const onTabMessage = (listener: (message: TabMessage) => void): void =>
  channel.addEventListener("message", ({ data }: MessageEvent<TabMessage>) => listener(data))

/** Runs one task at a time over all tabs. */
export const exclusively = <A>(task: () => Promise<A>): Promise<A> =>
  navigator.locks.request("govoice.session", task) as Promise<A>
