/**
 * The status page at `/`: sessions, invoices, limits and faults of a simulator. It is rendered on the server, loads nothing,
 * and runs no script.
 */
import type { Reply } from "../http/Reply.ts"
import type { LimitUse } from "../limits/Limits.ts"
import { statusOfInvoice } from "../sessions/invoiceStatus.ts"
import { countsOf, statusOfSession } from "../sessions/sessionStatus.ts"
import type { Simulation } from "../Simulation.ts"
import type { Invoice, LedgerCall, Session } from "../state/records.ts"
import { Html, html, type Part } from "./html.ts"
import { pageStyle } from "./pageStyle.ts"

const shown = 50

const clock = (millis: number): string => new Date(millis).toISOString().slice(11, 23)

const code = (text: string | number): Html => html`<code>${text}</code>`

const long = (text: string): Html => html`<div class="long">${text}</div>`

const badge = (status: number | null): Html => {
  const kind = status === null || status >= 500 ? "bad" : status >= 400 ? "warn" : status >= 200 ? "good" : "busy"
  return html`<span class="badge ${kind}">${status ?? "cut"}</span>`
}

const table = (
  title: string,
  count: number,
  heads: ReadonlyArray<string>,
  rows: ReadonlyArray<Html>,
  none: string
): Html => {
  const more =
    rows.length < count ? html` <small>the newest ${rows.length} of ${count}</small>` : html` <small>${count}</small>`
  const body =
    rows.length === 0
      ? html`<p class="none">${none}</p>`
      : html`<div class="scroll">
          <table>
            <thead>
              <tr>
                ${heads.map((head) => html`<th scope="col">${head}</th>`)}
              </tr>
            </thead>
            <tbody>
              ${rows}
            </tbody>
          </table>
        </div>`
  return html`<section>
    <h2>${title}${more}</h2>
    ${body}
  </section> `
}

const row = (...cells: ReadonlyArray<Part>): Html =>
  html`<tr>
    ${cells.map((cell) => html`<td>${cell}</td>`)}
  </tr> `

const newest = <A>(all: Iterable<A>): ReadonlyArray<A> => Array.from(all).slice(-shown).toReversed()

const sessionRow = (simulation: Simulation, session: Session): Html => {
  const counts = countsOf(simulation, session)
  const status = statusOfSession(simulation, session, counts)
  const key = session.key === null ? "unreadable" : "ok"
  return row(
    clock(session.createdAt),
    badge(status.code),
    code(session.reference),
    session.kind,
    session.context,
    session.form,
    `${counts.successful} / ${counts.failed} / ${counts.all}`,
    key
  )
}

const invoiceRow = (simulation: Simulation, invoice: Invoice): Html => {
  const status = statusOfInvoice(simulation, invoice)
  return row(
    clock(invoice.receivedAt),
    badge(status.code),
    invoice.header?.number ?? "",
    status.code === 200 ? code(invoice.ksefNumber ?? "") : long((status.details ?? []).join(" ")),
    invoice.header?.sellerNip ?? "",
    code(invoice.reference),
    code(invoice.hash.slice(0, 12))
  )
}

const share = (used: number, limit: number): Html =>
  limit < 0
    ? html`${used}`
    : html`<meter min="0" max="${Math.max(limit, 1)}" value="${used}" high="${limit * 0.8}"></meter> ${used} / ${limit}`

const limitRow = ({ key, limit, used }: LimitUse): Html =>
  row(
    key,
    share(used.perSecond, limit.perSecond),
    share(used.perMinute, limit.perMinute),
    share(used.perHour, limit.perHour)
  )

const callRow = (call: LedgerCall): Html =>
  row(
    clock(call.startedAt),
    badge(call.status),
    call.operation,
    call.overLimit ? "over the limit" : (call.fault ?? ""),
    `${Math.round(call.endedAt - call.startedAt)} ms`,
    call.context ?? "",
    html`${call.method} ${code(call.path)}`
  )

const fact = (name: string, value: Html | string): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div> `

const page = (simulation: Simulation, url: string, refreshes: boolean): Html => {
  const { faults, ledger, limits, options, state } = simulation
  const nip = String(state.settings.get("nip") ?? "")
  const token = Array.from(state.tokens.values()).find((one) => one.context === nip && !one.revoked)
  const sessions = newest(state.sessions.values())
  const invoices = newest(state.invoices.values())
  const listed = faults.list()
  const uses = limits.uses().slice(0, shown)
  const calls = newest(ledger.calls())
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        ${refreshes ? html`<meta http-equiv="refresh" content="3" />` : html``}
        <title>KSeF simulator</title>
        <style>
          ${new Html(pageStyle)}
        </style>
      </head>
      <body>
        <header>
          <h1>KSeF simulator</h1>
          <p>
            Nothing here reaches the Ministry of Finance.
            <a href="${refreshes ? "/" : "/?refresh"}">${refreshes ? "Stop refreshing" : "Refresh every 3 seconds"}</a>
          </p>
        </header>
        <main>
          <dl>
            ${fact("Base URL", code(url))}${fact("NIP", code(nip))}${fact("Token", code(token?.secret ?? "none"))}${fact("Environment", options.environment)}${fact("Time", new Date(simulation.clock.now()).toISOString())}${fact("Speed", String(options.speed))}${fact("Seed", code(String(state.settings.get("seed"))))}${fact("Beacon", simulation.beacon.status)}${fact("Calls", String(ledger.totalCalls))}${fact("Over the limit", String(ledger.overLimit))}
          </dl>
          ${table(
            "Sessions",
            state.sessions.size,
            ["Opened", "Status", "Reference", "Kind", "Context", "Form", "Accepted / refused / all", "Key"],
            sessions.map((session) => sessionRow(simulation, session)),
            "No session was opened yet."
          )}${table(
            "Documents",
            state.invoices.size,
            ["Received", "Status", "Number", "KSeF number, or why not", "Seller", "Reference", "SHA-256"],
            invoices.map((invoice) => invoiceRow(simulation, invoice)),
            "No document was sent yet."
          )}${table(
            "Faults",
            listed.length,
            ["Id", "Seen", "Fired", "Fault"],
            listed.map(({ fault, fired, id, seen }) => row(id, seen, fired, code(JSON.stringify(fault)))),
            "No faults. Add one with POST /_simulator/faults."
          )}${table(
            "Limits",
            uses.length,
            ["Group, context, address", "Second", "Minute", "Hour"],
            uses.map(limitRow),
            options.limits === "off" ? "Limits are switched off." : "No call in the last hour."
          )}${table(
            "Calls",
            ledger.totalCalls,
            ["Time", "Status", "Operation", "Note", "Took", "Context", "Request"],
            calls.map(callRow),
            "No call yet."
          )}
        </main>
      </body>
    </html> `
}

/** Answers the page. `url` is the base URL of the API. */
export const statusPage = (simulation: Simulation, url: string, refreshes: boolean): Reply => ({
  status: 200,
  headers: {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy":
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff"
  },
  body: page(simulation, url, refreshes).text
})
