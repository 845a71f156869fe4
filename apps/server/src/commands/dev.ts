/**
 * `govoice dev`: a server for development, with everything that a first invoice and its webhooks need. What it makes is kept in
 * the data directory, and the next start continues with it.
 */
import { PolishTime } from "@govoice/ksef/format"
import { createHandler } from "@govoice/webhooks/node"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join, relative, resolve } from "node:path"
import { serve } from "../runtime/serve.ts"
import * as DataDirectory from "../settings/DataDirectory.ts"
import { DeploymentError } from "../settings/DeploymentError.ts"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"
import { version } from "../version.ts"
import { CommandFailure } from "./CommandFailure.ts"
import * as deployment from "./deployment.ts"

/** What earlier starts made. Each member is made when it is missing or no longer valid. */
interface Made {
  readonly email: string
  readonly password: string
  readonly organization?: string
  readonly apiKey?: string
  readonly endpoint?: string
  readonly endpointSecret?: string
}

type Complete = Required<Made>

const settingsFor = (env: EnvironmentVariables): EnvironmentVariables => ({
  GOVOICE_LOG_LEVEL: "Warn",
  ...env,
  HOST: "127.0.0.1",
  GOVOICE_API_ENABLED: "true",
  GOVOICE_CONSOLE: "on",
  GOVOICE_SIGNUP: "open",
  GOVOICE_WEBHOOK_ALLOW_HTTP: "true",
  GOVOICE_WEBHOOK_ALLOW_NETWORKS: [env["GOVOICE_WEBHOOK_ALLOW_NETWORKS"] ?? [], "127.0.0.0/8"].flat().join(",")
})

const fileName = "dev.json"

const isMade = (value: unknown): value is Made =>
  typeof value === "object" &&
  value !== null &&
  "email" in value &&
  typeof value.email === "string" &&
  "password" in value &&
  typeof value.password === "string"

const readMade = (path: string): Made => {
  let content: string
  try {
    content = readFileSync(path, "utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw DataDirectory.faultOfFile(path, "read", error)
    return { email: "dev@example.com", password: randomBytes(18).toString("base64url") }
  }
  let made: unknown
  try {
    made = JSON.parse(content)
  } catch {
    made = undefined
  }
  if (isMade(made)) return made
  throw new DeploymentError({
    message: `${path} does not have the login of 'govoice dev'. Restore it, or set GOVOICE_DATA_DIR to another directory.`
  })
}

const write = (path: string, value: unknown): void => {
  try {
    writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  } catch (error) {
    throw DataDirectory.faultOfFile(path, "written", error)
  }
}

/** The members that `prepare` reads of the answers of this server. An answer has those of its operation. */
interface Body {
  readonly id: string
  readonly secret: string
  readonly access_token: string
  readonly refresh_token: string
  readonly error?: { readonly code: string; readonly message: string }
}

interface Answer {
  readonly status: number
  readonly body: Body
}

type Call = (method: string, path: string, body?: unknown, bearer?: string) => Promise<Answer>

const makeCall =
  (base: string): Call =>
  async (method, path, body, bearer) => {
    const response = await fetch(`${base}/v1${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    return { status: response.status, body: (response.status === 204 ? {} : await response.json()) as Body }
  }

const orThrow = ({ body }: Answer): Body => {
  if (body.error === undefined) return body
  throw new DeploymentError({ message: `The server refused to prepare its first account: ${body.error.message}` })
}

const logIn = async (call: Call, { email, password }: Made, path: string): Promise<Body> => {
  const first = await call("POST", "/control-plane/auth/login", { email, password })
  if (first.status !== 401) return orThrow(first)
  const created = await call("POST", "/control-plane/accounts", { email, password })
  if (created.body.error?.code === "email_taken") {
    throw new DeploymentError({
      message: `The password of ${email} is not the one in ${path}. Run 'govoice account reset-password ${email}' and write the new password there, or set GOVOICE_DATA_DIR to another directory.`
    })
  }
  orThrow(created)
  return orThrow(await call("POST", "/control-plane/auth/login", { email, password }))
}

/** Makes what is missing, through the API as any owner does, and stores it. */
const prepare = async (base: string, path: string, receiverUrl: string): Promise<Complete> => {
  const call = makeCall(base)
  let made = readMade(path)
  const keep = (more: Partial<Made>): void => {
    made = { ...made, ...more }
    write(path, made)
  }
  // Stored before the account exists: a start that is interrupted continues with the same password.
  keep({})
  const { access_token: token, refresh_token } = await logIn(call, made, path)

  const organizationPath = () => `/control-plane/organizations/${made.organization}`
  if (made.organization === undefined || (await call("GET", organizationPath(), undefined, token)).status === 404) {
    const { id } = orThrow(await call("POST", "/control-plane/organizations", { name: "Development" }, token))
    keep({ organization: id })
  }
  if (made.apiKey === undefined || (await call("GET", "/me", undefined, made.apiKey)).status === 401) {
    const { secret } = orThrow(
      await call("POST", `${organizationPath()}/api-keys`, { mode: "test", name: "govoice dev" }, token)
    )
    keep({ apiKey: secret })
  }
  const changed =
    made.endpoint === undefined
      ? undefined
      : await call(
          "PATCH",
          `/control-plane/webhook-endpoints/${made.endpoint}`,
          { url: receiverUrl, enabled: true },
          token
        )
  if (changed === undefined || changed.status === 404) {
    const endpoint = { url: receiverUrl, event_types: ["*"], description: "govoice dev" }
    const { id, secret } = orThrow(await call("POST", `${organizationPath()}/webhook-endpoints`, endpoint, token))
    keep({ endpoint: id, endpointSecret: secret })
  } else orThrow(changed)
  await call("POST", "/control-plane/auth/logout", { refresh_token })
  return made as Complete
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)

const time = (): string => new Date().toTimeString().slice(0, 8)

const invoiceIdOf = (data: unknown): string => (data as { readonly invoice: { readonly id: string } }).invoice.id

/** The receiver of webhooks, and the link that logs a browser in. Both are on a loopback address alone. */
class Desk {
  readonly #token = randomBytes(16).toString("base64url")
  readonly #server = createServer((request, response) => void this.#answer(request, response))
  #base = ""
  #made: Complete | undefined
  #isLinkUsed = false
  #receive: ReturnType<typeof createHandler> | undefined

  readonly #listening = new Promise<void>((done, fail) => {
    this.#server.once("error", fail)
    this.#server.listen(0, "127.0.0.1", done)
  })

  #host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async open(base: string, path: string): Promise<Complete> {
    await this.#listening
    this.#base = base
    const made = await prepare(base, path, `http://${this.#host()}/webhooks`)
    this.#receive = createHandler(
      {
        secret: made.endpointSecret,
        onRejected: ({ message }) => say(`${time()}  Webhook rejected: ${message}`)
      },
      ({ event }) => say(`${time()}  ${event.type.padEnd(21)}  ${invoiceIdOf(event.data)}  verified`)
    )
    this.#made = made
    return made
  }

  get link(): string {
    return `http://${this.#host()}/login/${this.#token}`
  }

  close(): Promise<void> {
    return new Promise((done) => {
      this.#server.close(() => done())
      this.#server.closeAllConnections()
    })
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A page of another site can point a name of its own to this address.
    if (request.headers.host !== this.#host()) response.writeHead(421).end()
    else if (request.url === "/webhooks" && this.#receive !== undefined) await this.#receive(request, response)
    else if (request.url === "/webhooks") response.writeHead(503).end()
    else if (request.url === `/login/${this.#token}` && request.method === "GET") await this.#logIn(response)
    else response.writeHead(404).end()
  }

  async #logIn(response: ServerResponse): Promise<void> {
    const headers = { "cache-control": "no-store", "referrer-policy": "no-referrer" }
    const console = `${this.#base}/console`
    if (this.#isLinkUsed || this.#made === undefined) {
      response.writeHead(303, { ...headers, location: console }).end()
      return
    }
    this.#isLinkUsed = true
    const { email, organization, password } = this.#made
    const session = await fetch(`${console}/session`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: this.#base },
      body: JSON.stringify({ email, password })
    }).catch(() => undefined)
    // The cookie is the host's, whatever the port.
    const cookie = session?.headers.get("set-cookie")
    response
      .writeHead(303, {
        ...headers,
        ...(cookie == null ? {} : { "set-cookie": cookie }),
        location: `${console}/o/${organization}`
      })
      .end()
  }
}

/** The document of the command to try: a whole FA (3), so that the console shows everything that an invoice has. */
export const invoice = (now: Date) => {
  const day = PolishTime.day(now.getTime())
  return {
    invoice_xml: [
      '<Faktura xmlns="http://crd.gov.pl/wzor/2025/06/25/13775/">',
      '<Naglowek><KodFormularza kodSystemowy="FA (3)" wersjaSchemy="1-0E">FA</KodFormularza>',
      `<WariantFormularza>3</WariantFormularza><DataWytworzeniaFa>${now.toISOString()}</DataWytworzeniaFa></Naglowek>`,
      "<Podmiot1><DaneIdentyfikacyjne><NIP>5265877635</NIP><Nazwa>Sprzedawca Testowy</Nazwa></DaneIdentyfikacyjne>",
      "<Adres><KodKraju>PL</KodKraju><AdresL1>ul. Testowa 1, 00-001 Warszawa</AdresL1></Adres></Podmiot1>",
      "<Podmiot2><DaneIdentyfikacyjne><NIP>5260250274</NIP><Nazwa>Nabywca Testowy</Nazwa></DaneIdentyfikacyjne>",
      "<Adres><KodKraju>PL</KodKraju><AdresL1>ul. Inna 2, 00-916 Warszawa</AdresL1></Adres><JST>2</JST><GV>2</GV></Podmiot2>",
      `<Fa><KodWaluty>PLN</KodWaluty><P_1>${day}</P_1><P_2>DEV/1</P_2>`,
      "<P_13_1>100.00</P_13_1><P_14_1>23.00</P_14_1><P_15>123.00</P_15>",
      "<Adnotacje><P_16>2</P_16><P_17>2</P_17><P_18>2</P_18><P_18A>2</P_18A><Zwolnienie><P_19N>1</P_19N></Zwolnienie>",
      "<NoweSrodkiTransportu><P_22N>1</P_22N></NoweSrodkiTransportu><P_23>2</P_23>",
      "<PMarzy><P_PMarzyN>1</P_PMarzyN></PMarzy></Adnotacje><RodzajFaktury>VAT</RodzajFaktury>",
      "<FaWiersz><NrWierszaFa>1</NrWierszaFa><P_7>Usługa testowa</P_7><P_8A>szt.</P_8A><P_8B>1</P_8B>",
      "<P_9A>100.00</P_9A><P_11>100.00</P_11><P_12>23</P_12></FaWiersz></Fa></Faktura>"
    ].join("")
  }
}

const screen = (base: string, folder: string, link: string, { apiKey, email }: Complete): string => {
  const shown = relative(process.cwd(), resolve(folder)) || "."
  const submit = (scenario: ReadonlyArray<string>): ReadonlyArray<string> => [
    `  curl -sSw '\\n' ${base}/v1/invoices \\`,
    `    -d @${join(shown, "invoice.json")} \\`,
    '    -H "Authorization: Bearer $GOVOICE_API_KEY" \\',
    ...scenario,
    '    -H "Idempotency-Key: $(date +%s)-$RANDOM" \\',
    '    -H "Content-Type: application/json"'
  ]
  return [
    `Govoice ${version}, for development`,
    "",
    `  Console    ${base}/console`,
    `  Log in     ${link} (works once)`,
    `             or as ${email} with the password in ${join(shown, fileName)}`,
    `  API        ${base}/v1`,
    `  Reference  ${base}/docs`,
    `  Data       ${resolve(folder)}`,
    "",
    "Try this in another terminal, in the same folder:",
    "",
    `  export GOVOICE_API_KEY=${apiKey}`,
    "",
    "  # 1. Submit an invoice to the sandbox, which accepts it",
    ...submit([]),
    "",
    "  # 2. Submit one that is rejected",
    ...submit(['    -H "Gov-Sandbox-Scenario: rejected" \\']),
    "",
    "  # 3. See what became of them",
    `  curl -sSw '\\n' ${base}/v1/invoices \\`,
    '    -H "Authorization: Bearer $GOVOICE_API_KEY"',
    "",
    "Ctrl-C stops the server, and the next start continues with this data.",
    "Webhooks are verified and printed here:",
    ""
  ].join("\n")
}

/** The command that opens a URL in a browser, where somebody is likely to see it. */
const browserCommand = (env: EnvironmentVariables): ReadonlyArray<string> | undefined => {
  if (!process.stdout.isTTY || env["CI"] !== undefined || env["SSH_CONNECTION"] !== undefined) return undefined
  if (process.platform === "darwin") return ["open"]
  if (process.platform === "win32") return ["explorer"]
  return env["DISPLAY"] !== undefined || env["WAYLAND_DISPLAY"] !== undefined ? ["xdg-open"] : undefined
}

const openBrowser = (env: EnvironmentVariables, url: string): void => {
  const [command, ...args] = browserCommand(env) ?? []
  if (command === undefined) return
  // Where there is no browser after all, the URL is on the screen.
  spawn(command, [...args, url], { detached: true, stdio: "ignore" })
    .on("error", () => {})
    .unref()
}

/** Starts the server. Fails when a setting is invalid, or names another database than the embedded one. */
export const start = Effect.fnUntraced(function* (env: EnvironmentVariables, { open }: { readonly open: boolean }) {
  const ours = settingsFor(env)
  const settings = yield* deployment.settings(ours)
  const { database } = settings
  if (database._tag === "Postgres" || database.dataDir === undefined) {
    const name = database._tag === "Postgres" ? "DATABASE_URL" : "GOVOICE_DATA_DIR=memory"
    return yield* new CommandFailure({
      message: `'govoice dev' keeps everything in its own folder. Remove ${name}, or run 'govoice serve'.`
    })
  }
  const { dataDir } = database

  const announce = (url: string) =>
    Effect.gen(function* () {
      const desk = yield* Effect.acquireRelease(
        Effect.sync(() => new Desk()),
        (desk) => Effect.promise(() => desk.close())
      )
      const made = yield* Effect.tryPromise({
        try: async () => {
          write(join(dataDir, "invoice.json"), invoice(new Date()))
          return await desk.open(url, join(dataDir, fileName))
        },
        catch: (error) => error
      })
      process.stdout.write(screen(url, dataDir, desk.link, made))
      if (open) openBrowser(env, desk.link)
    })
  serve(ours, settings, announce)
})
