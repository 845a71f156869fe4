/**
 * The pages behind the QR codes of invoices, like those of the Ministry: KOD I shows whether an invoice is in KSeF, and KOD II who
 * issued it offline. Source: kody-qr.md and offline/korekta-techniczna.md of CIRFMF/ksef-api.
 */
import { CertificateLink } from "@govoice/ksef/crypto"
import { ContextIdentifier } from "@govoice/ksef/format"
import { Certificate } from "@govoice/ksef/xades"
import type { Reply } from "../http/Reply.ts"
import { modeOf, statusOfInvoice } from "../sessions/invoiceStatus.ts"
import type { Simulation } from "../Simulation.ts"
import type { Invoice } from "../state/records.ts"
import { type Html, html } from "./html.ts"
import { pageStyle } from "./pageStyle.ts"

const page = (
  title: string,
  facts: ReadonlyArray<readonly [name: string, value: string]>,
  more: Html = html``
): Reply => ({
  status: 200,
  headers: {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"
  },
  body: html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${title}</title>
        <style>
          ${pageStyle}
        </style>
      </head>
      <body>
        <h1>${title}</h1>
        <p>The KSeF simulator. This page has no legal effect.</p>
        <table>
          ${facts.map(
            ([name, value]) =>
              html`<tr>
                <th scope="row">${name}</th>
                <td>${value}</td>
              </tr> `
          )}
        </table>
        ${more}
      </body>
    </html>`.text
})

const base64Url = (hash: string): string => Buffer.from(hash, "base64").toString("base64url")

const isAccepted = (simulation: Simulation, invoice: Invoice): boolean =>
  statusOfInvoice(simulation, invoice).code === 200 && invoice.ksefNumber !== null

const linkTo = ({ hash, header }: Invoice): string => {
  const [year, month, day] = header!.issueDate.split("-")
  return `/invoice/${header!.sellerNip}/${day}-${month}-${year}/${base64Url(hash)}`
}

// `/invoice/<NIP of the seller>/<DD-MM-YYYY>/<hash>`
const invoicePage = (simulation: Simulation, [nip, date, hash]: ReadonlyArray<string>): Reply => {
  const asked = [
    ["NIP of the seller", nip ?? ""],
    ["Date of issue", date ?? ""],
    ["Hash", hash ?? ""]
  ] as const
  const invoices = Array.from(simulation.state.invoices.values()).filter((one) => isAccepted(simulation, one))
  const found = invoices.find((one) => linkTo(one) === `/invoice/${nip}/${date}/${hash}`)
  if (found !== undefined) {
    return page("The invoice is in KSeF", [
      ...asked,
      ["KSeF number", found.ksefNumber!],
      ["Number", found.header!.number],
      ["Mode", modeOf(found)]
    ])
  }
  const correction = invoices.find(
    ({ correctedHash, header }) =>
      correctedHash !== null && base64Url(correctedHash) === hash && header?.sellerNip === nip
  )
  if (correction !== undefined) {
    return page(
      "The invoice was corrected technically",
      [...asked, ["KSeF number of the correction", correction.ksefNumber!]],
      html`<p><a href="${linkTo(correction)}">The correction</a></p>`
    )
  }
  return page("The invoice is not in KSeF", asked)
}

// `/certificate/<type of the context>/<its value>/<NIP of the seller>/<serial number>/<hash>/<signature>`
const certificatePage = (
  { authority, clock, state }: Simulation,
  [type, context, seller, serial, hash]: ReadonlyArray<string>,
  link: string
): Reply => {
  const facts = [
    ["Context", `${type} ${context}`],
    ["NIP of the seller", seller ?? ""],
    ["Certificate", serial ?? ""],
    ["Hash", hash ?? ""]
  ] as const
  const isRevoked = state.enrollments.get(serial ?? "")?.revoked === true
  const fault =
    ContextIdentifier.ofValue(context ?? "").type !== type
      ? "The context is not of this type."
      : isRevoked
        ? "The certificate was revoked."
        : faultOf(authority.find(serial ?? ""), link, clock.now())
  return page(fault === undefined ? "The issuer is confirmed" : "The issuer is not confirmed", [
    ...facts,
    ...(fault === undefined ? [] : [["Reason", fault] as const])
  ])
}

const faultOf = (certificate: ReturnType<Simulation["authority"]["find"]>, link: string, now: number) => {
  if (certificate === undefined) return "KSeF issued no certificate with this serial number."
  if (Certificate.keyUsage(certificate)?.includes("nonRepudiation") !== true) {
    return "The certificate is not of the type Offline."
  }
  if (now < certificate.validFromDate.getTime() || now > certificate.validToDate.getTime()) {
    return "The certificate is not valid now."
  }
  return CertificateLink.verify(link, certificate.publicKey)
    ? undefined
    : "The signature is not one of this certificate."
}

/** Answers a request for one of the pages; `undefined` for any other path. `host` is the one that the link was made with. */
export const verificationPage = (simulation: Simulation, path: string, host: string): Reply | undefined => {
  const [kind, ...parts] = path.slice(1).split("/")
  if (kind === "invoice" && parts.length === 3) return invoicePage(simulation, parts)
  if (kind === "certificate" && parts.length === 6) {
    return certificatePage(simulation, parts, `${host}${path}`)
  }
  return undefined
}
