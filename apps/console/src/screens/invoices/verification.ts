/**
 * The verification link of an invoice (KOD I). Everything in it is in the receipt: the NIP of the seller, the date of issue
 * and the hash of the document.
 */
const hosts = {
  test: "qr-test.ksef.mf.gov.pl",
  demo: "qr-demo.ksef.mf.gov.pl",
  prod: "qr.ksef.mf.gov.pl"
} as const

const textOf = (xml: string, name: string): string | undefined =>
  new RegExp(`<(?:\\w+:)?${name}>\\s*([^<\\s]+)\\s*<`).exec(xml)?.[1]

/** Returns the link, or undefined if the receipt or the environment does not give one. */
export const verificationLink = (upo: string, environment: string | null): string | undefined => {
  const host =
    environment !== null && Object.hasOwn(hosts, environment) ? hosts[environment as keyof typeof hosts] : undefined
  const nip = textOf(upo, "NipSprzedawcy") ?? textOf(upo, "NumerKSeFDokumentu")?.slice(0, 10)
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)/.exec(textOf(upo, "DataWystawieniaFaktury") ?? "") ?? []
  const hash = textOf(upo, "SkrotDokumentu")?.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
  if (host === undefined || !/^\d{10}$/.test(nip ?? "") || day === undefined || !/^[\w-]{43}$/.test(hash ?? ""))
    return undefined
  return `https://${host}/invoice/${nip}/${day}-${month}-${year}/${hash}`
}
