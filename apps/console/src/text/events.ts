/**
 * What each event type means, in each language. The files of the languages do not import it: what they shared with the
 * page would be a part of the page's own script, which waits for them.
 */
import type { EventType, Known } from "@govoice/client"

export const eventMeanings: { readonly [T in Known<EventType>]: { readonly en: string; readonly pl: string } } = {
  "invoice.received": { en: "The invoice is stored.", pl: "Faktura jest zapisana." },
  "invoice.submitted": { en: "KSeF has received the invoice.", pl: "KSeF otrzymał fakturę." },
  "invoice.accepted": {
    en: "KSeF has accepted the invoice and given it a number.",
    pl: "KSeF przyjął fakturę i nadał jej numer."
  },
  "invoice.upo_available": { en: "The receipt (UPO) can be downloaded.", pl: "UPO jest gotowe do pobrania." },
  "invoice.rejected": { en: "KSeF has refused the invoice.", pl: "KSeF odrzucił fakturę." },
  "invoice.failed": {
    en: "KSeF made no decision on the invoice, and it will not be tried again.",
    pl: "Faktury nie udało się wysłać i nie będzie kolejnej próby."
  }
}

export const knownEventTypes = Object.keys(eventMeanings) as ReadonlyArray<Known<EventType>>
