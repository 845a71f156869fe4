/** The texts of mails, in English and Polish. */
import type { Language } from "../accounts/PasswordResets.ts"
import { tokensUntil } from "../invoices/ksef/notices.sql.ts"
import type { Mail } from "./Mailer.ts"
import type { Notice } from "./Notices.ts"

const resets: Readonly<Record<Language, (link: string) => Mail>> = {
  en: (link) => ({
    subject: "Reset your Govoice password",
    lines: [
      "Open this link to choose a new password. It works once, within 30 minutes of your request:",
      "",
      link,
      "",
      "Choosing a new password ends all sessions of the account. API keys stay valid.",
      "If you did not ask for this, ignore this message: your password has not changed."
    ]
  }),
  pl: (link) => ({
    subject: "Nowe hasło do Govoice",
    lines: [
      "Otwórz ten link, aby ustawić nowe hasło. Działa raz, przez 30 minut od zgłoszenia:",
      "",
      link,
      "",
      "Ustawienie nowego hasła kończy wszystkie sesje konta. Klucze API pozostają ważne.",
      "Jeśli to nie Twoja prośba, zignoruj tę wiadomość: hasło się nie zmieniło."
    ]
  })
}

/** The mail with the link that resets a password. */
export const resetMail = (language: Language, link: string): Mail => resets[language](link)

/** What the texts of notices have from the settings. */
export interface Deployment {
  readonly publicUrl: string
  readonly disableAfterDays: number | null
}

interface Facts {
  readonly organization: string
  /** The host of the endpoint. A path may have secrets. */
  readonly host: string
  readonly at: string
  readonly disableAfterDays: number | null
}

interface Text {
  readonly subject: string
  readonly lines: ReadonlyArray<string>
}

type Texts = Readonly<Record<Notice["kind"], (facts: Facts) => Text>> & {
  readonly several: (count: number) => string
  readonly why: string
}

const tokensEnd = Date.parse(`${tokensUntil}T12:00:00Z`)

const texts: Readonly<Record<Language, Texts>> = {
  en: {
    endpoint_failing: ({ at, disableAfterDays, host, organization }) => ({
      subject: `Webhooks to ${host} are failing`,
      lines: [
        `No webhook of ${organization} to ${host} has succeeded since ${at}.`,
        `Failed webhooks are retried for some hours.${disableAfterDays === null ? "" : ` After ${disableAfterDays === 1 ? "a day" : `${disableAfterDays} days`} without a success, the endpoint is switched off.`} See what the receiver answers:`
      ]
    }),
    endpoint_recovered: ({ host, organization }) => ({
      subject: `Webhooks to ${host} succeed again`,
      lines: [
        `Webhooks of ${organization} to ${host} succeed again. Those that failed for good are not sent again; see which:`
      ]
    }),
    endpoint_disabled: ({ at, host, organization }) => ({
      subject: `Endpoint ${host} was switched off`,
      lines: [
        `No webhook of ${organization} to ${host} had succeeded since ${at}, so the endpoint was switched off.`,
        "It misses the events that happen while it is off. Repair the receiver, then switch the endpoint on:"
      ]
    }),
    credential_expiring: ({ at, organization }) => ({
      subject: `KSeF credential of ${organization} expires on ${at}`,
      lines: [
        `The credential with which ${organization} logs in to KSeF expires on ${at}. Without a valid one, live invoices wait.`,
        "Request a certificate of the type Authentication in KSeF, and store it:"
      ]
    }),
    offline_certificate_expiring: ({ at, organization }) => ({
      subject: `Offline certificate of ${organization} expires on ${at}`,
      lines: [
        `The certificate with which ${organization} issues invoices offline expires on ${at}. Without a valid one, none can be issued offline.`,
        "Request a certificate of the type Offline in KSeF, and store it:"
      ]
    }),
    token_login_ending: ({ at, organization }) => ({
      subject: `${organization} needs a KSeF certificate`,
      lines: [
        `${organization} logs in to KSeF with a token. The rules provide for tokens until ${at}.`,
        "Request a certificate of the type Authentication in KSeF, and store it before then:"
      ]
    }),
    several: (count) => `${count} notices from Govoice`,
    why: "You get this mail because you own the account. Each notice is sent once."
  },
  pl: {
    endpoint_failing: ({ at, disableAfterDays, host, organization }) => ({
      subject: `Webhooki na ${host} nie docierają`,
      lines: [
        `Od ${at} żaden webhook organizacji ${organization} nie dotarł na ${host}.`,
        `Nieudane webhooki są ponawiane przez kilka godzin.${disableAfterDays === null ? "" : ` Po ${disableAfterDays === 1 ? "jednym dniu" : `${disableAfterDays} dniach`} bez powodzenia adres zostanie wyłączony.`} Sprawdź, co odpowiada odbiorca:`
      ]
    }),
    endpoint_recovered: ({ host, organization }) => ({
      subject: `Webhooki na ${host} znów docierają`,
      lines: [
        `Webhooki organizacji ${organization} na ${host} znów docierają. Te, które się ostatecznie nie udały, nie będą wysłane ponownie; sprawdź, które to:`
      ]
    }),
    endpoint_disabled: ({ at, host, organization }) => ({
      subject: `Adres ${host} został wyłączony`,
      lines: [
        `Od ${at} żaden webhook organizacji ${organization} nie dotarł na ${host}, dlatego adres został wyłączony.`,
        "Zdarzenia, które zajdą w czasie wyłączenia, nie zostaną na niego wysłane. Napraw odbiorcę, a potem włącz adres:"
      ]
    }),
    credential_expiring: ({ at, organization }) => ({
      subject: `Dane dostępowe do KSeF: ${organization}, ważne do ${at}`,
      lines: [
        `Dane, którymi organizacja ${organization} loguje się do KSeF, tracą ważność ${at}. Bez ważnych danych faktury czekają na wysłanie.`,
        "Wystąp w KSeF o certyfikat typu Uwierzytelnienie i zapisz go tutaj:"
      ]
    }),
    offline_certificate_expiring: ({ at, organization }) => ({
      subject: `Certyfikat offline: ${organization}, ważny do ${at}`,
      lines: [
        `Certyfikat, którym organizacja ${organization} wystawia faktury offline, traci ważność ${at}. Bez ważnego certyfikatu nie można ich wystawiać.`,
        "Wystąp w KSeF o certyfikat typu Offline i zapisz go tutaj:"
      ]
    }),
    token_login_ending: ({ at, organization }) => ({
      subject: `${organization}: potrzebny certyfikat KSeF`,
      lines: [
        `Organizacja ${organization} loguje się do KSeF tokenem. Przepisy przewidują tokeny do ${at}.`,
        "Wystąp wcześniej w KSeF o certyfikat typu Uwierzytelnienie i zapisz go tutaj:"
      ]
    }),
    several: (count) => `Powiadomienia z Govoice: ${count}`,
    why: "Dostajesz tę wiadomość jako właściciel konta. Każde powiadomienie wysyłamy raz."
  }
}

const locales: Readonly<Record<Language, string>> = { en: "en-GB", pl: "pl-PL" }

const day = (language: Language, at: Date | number): string =>
  new Intl.DateTimeFormat(locales[language], { dateStyle: "long", timeZone: "Europe/Warsaw" }).format(at)

const minute = (language: Language, at: Date): string =>
  new Intl.DateTimeFormat(locales[language], {
    day: "numeric",
    month: "long",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "short",
    timeZone: "Europe/Warsaw"
  }).format(at)

const whenOf = (language: Language, { at, endpoint_id }: Notice): string => {
  if (at === null) return day(language, tokensEnd)
  return endpoint_id === null ? day(language, at) : minute(language, at)
}

const pathOf = ({ endpoint_id, organization_id }: Notice): string =>
  endpoint_id === null ? `/o/${organization_id}/live` : `/o/${organization_id}/endpoints/${endpoint_id}`

const maxName = 60

/**
 * The organization as a mail names it: by its identifier if its name is long or would be a link. Nobody has proved that the address of an
 * account is theirs, so that a name could be what a stranger has to say to somebody.
 */
const organizationOf = ({ organization_id, organization_name }: Notice): string => {
  const name = organization_name.replaceAll(/[\p{C}\s]+/gu, " ").trim()
  const isPlain = name !== "" && name.length <= maxName && !/[/:@\\]|[.。．｡](?=[\p{L}\p{N}]{2})/u.test(name)
  return isPlain ? name : organization_id
}

/** The host of the URL of a notice, with its port. */
export const hostOf = ({ url }: Notice): string => (url === null ? "" : new URL(url).host)

/** The mail with these notices, each with a link to the page where it is mended. None if there are none. */
export const noticeMail = (
  language: Language,
  notices: ReadonlyArray<Notice>,
  { disableAfterDays, publicUrl }: Deployment
): Mail | undefined => {
  const words = texts[language]
  const parts = notices.map((notice) => {
    const facts = {
      organization: organizationOf(notice),
      host: hostOf(notice),
      at: whenOf(language, notice),
      disableAfterDays
    }
    const { lines, subject } = words[notice.kind](facts)
    return { subject, lines: [...lines, "", `${publicUrl}/console${pathOf(notice)}`, ""] }
  })
  const [first] = parts
  if (first === undefined) return undefined
  return {
    subject: parts.length === 1 ? first.subject : words.several(parts.length),
    lines: [...parts.flatMap(({ lines }) => lines), words.why]
  }
}
