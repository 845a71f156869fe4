/**
 * Snippets that submit an invoice. A test runs them against a server.
 */
import type { SnippetForm } from "./SnippetForm.ts"

/** A small document for the sandbox, which takes any well-formed XML. */
export const sampleInvoice =
  '<Faktura xmlns="http://crd.gov.pl/wzor/2025/06/25/13775/"><Podmiot1><DaneIdentyfikacyjne><NIP>5265877635</NIP></DaneIdentyfikacyjne></Podmiot1></Faktura>'

/** A submission with curl. The key comes from the environment. */
export const curlSubmission = (origin: string): SnippetForm => ({
  name: "curl",
  code: `curl -sSw '\\n' ${origin}/v1/invoices \\
  -H "Authorization: Bearer $GOVOICE_API_KEY" \\
  -H "Idempotency-Key: try-$(date +%s)-$RANDOM" \\
  -H "Content-Type: application/json" \\
  --data-binary '${JSON.stringify({ invoice_xml: sampleInvoice })}'
`
})

/** A submission with the client. */
export const sdkSubmission = (origin: string): SnippetForm => ({
  name: "@govoice/client",
  install: "npm install @govoice/client",
  file: "submit.mjs",
  run: "node submit.mjs",
  code: `import { createClient } from "@govoice/client"

const client = createClient({ apiKey: process.env["GOVOICE_API_KEY"], baseUrl: "${origin}" })
const invoice = await client.invoices.submitAndWait({
  invoiceXml: \`${sampleInvoice}\`
})
console.log(invoice.id, invoice.status)
`
})

/** A document that the console submits to the sandbox, with a number that tells it from the others. */
export const sandboxInvoice = (now: Date): string => {
  const [day, time] = now.toISOString().split("T") as [string, string]
  const party = (tag: string, nip: string, name: string) =>
    `<${tag}><DaneIdentyfikacyjne><NIP>${nip}</NIP><Nazwa>${name}</Nazwa></DaneIdentyfikacyjne></${tag}>`
  return [
    '<Faktura xmlns="http://crd.gov.pl/wzor/2025/06/25/13775/">',
    '<Naglowek><KodFormularza kodSystemowy="FA (3)" wersjaSchemy="1-0E">FA</KodFormularza></Naglowek>',
    party("Podmiot1", "5265877635", "Sprzedawca Testowy"),
    party("Podmiot2", "5260250274", "Nabywca Testowy"),
    `<Fa><KodWaluty>PLN</KodWaluty><P_1>${day}</P_1><P_2>TEST/${day}/${time.slice(0, 8)}</P_2><P_15>123.00</P_15>`,
    "<RodzajFaktury>VAT</RodzajFaktury></Fa></Faktura>"
  ].join("")
}
