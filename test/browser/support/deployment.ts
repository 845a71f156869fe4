/** A bundled server with the built console on a database of its own, and the login of its owners. */
import { randomUUID } from "node:crypto"
import { request } from "node:http"
import type { BrowserContext, Page } from "playwright-core"
import { createMigrated } from "../../support/databases.ts"
import { secrets, type Server, startServer } from "../../e2e/support/server.ts"

export const password = "correct horse battery staple"

/** The cookie that holds the refresh token. */
export const cookieName = "__Host-govoice"

type Settings = Readonly<Record<string, string>>

/** A database with servers on it. */
export interface Deployment extends Server {
  /** Starts another server on the same database. It stops with the deployment. */
  readonly startBeside: (settings: Settings) => Promise<Server>
  /** Runs a statement on the database, to change what only time does. */
  readonly run: (statement: string) => Promise<unknown>
}

/** Starts a server on a new database, which `stop` drops. */
export const deploy = async (settings: Settings = {}): Promise<Deployment> => {
  const database = await createMigrated()
  const servers: Array<Server> = []
  const start = async (others: Settings): Promise<Server> => {
    const server = await startServer({ DATABASE_URL: database.url, ...secrets, ...others })
    servers.push(server)
    return server
  }
  try {
    const first = await start(settings)
    return {
      ...first,
      startBeside: start,
      run: database.run,
      stop: async () => {
        const [code] = await Promise.all(servers.map((server) => server.stop()))
        await database.drop()
        return code!
      }
    }
  } catch (error) {
    await database.drop()
    throw error
  }
}

/** Creates an account with an organization, and returns its email. */
export const signUp = async ({ url }: Server): Promise<string> => {
  const email = `owner-${randomUUID()}@example.com`
  const post = async (path: string, body: object, token?: string): Promise<Record<string, unknown>> => {
    const response = await fetch(`${url}/v1/control-plane/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body)
    })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return (await response.json()) as Record<string, unknown>
  }
  await post("accounts", { email, password })
  const { access_token: token } = await post("auth/login", { email, password })
  await post("organizations", { name: "Sprzedawca Testowy" }, String(token))
  return email
}

/** Opens the account screen in a new page, and logs in there if that is needed. */
export const openAccount = async (context: BrowserContext, { url }: Server, email?: string): Promise<Page> => {
  const page = await context.newPage()
  await page.goto(`${url}/console/account`)
  if (email !== undefined) await logIn(page, email)
  await page.getByRole("button", { name: "Log out everywhere" }).waitFor()
  return page
}

/** Fills in and sends the form of the login. */
export const logIn = async (page: Page, email: string, given = password): Promise<void> => {
  await page.getByLabel("Email").fill(email)
  await page.getByLabel("Password", { exact: true }).fill(given)
  await page.getByRole("button", { name: "Log in" }).click()
}

/** Waits until a page shows the form of the login. */
export const isLoggedOut = (page: Page): Promise<void> => page.getByRole("heading", { name: "Log in" }).waitFor()

/** The value of the cookie, as a thief of it would have it. */
export const cookieOf = async (context: BrowserContext): Promise<string> => {
  const cookie = (await context.cookies()).find(({ name }) => name === cookieName)
  if (cookie === undefined) throw new Error("No cookie")
  return cookie.value
}

/** Refreshes with a cookie outside of the browser, and returns the status. */
export const refreshWith = ({ url }: Server, value: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = {
      "content-type": "application/json",
      "sec-fetch-site": "same-origin",
      cookie: `${cookieName}=${value}`
    }
    const sent = request(`${url}/console/session/refresh`, { method: "POST", headers }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode!))
    })
    sent.once("error", reject)
    sent.end("{}")
  })
