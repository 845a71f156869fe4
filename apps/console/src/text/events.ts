/**
 * What each event type means, in each language. The files of the languages do not import it: what they shared with the
 * page would be a part of the page's own script, which waits for them.
 */
import type { EventType, Known } from "@govoice/client"

export const eventMeanings: { readonly [T in Known<EventType>]: { readonly en: string; readonly pl: string } } = {
  "invoice.received": { en: "The invoice is stored.", pl: "Faktura jest zapisana." },
  "invoice.submitted": {
    en: "KSeF, or the sandbox, has received the invoice.",
    pl: "KSeF lub sandbox otrzymał fakturę."
  },
  "invoice.accepted": {
    en: "KSeF, or the sandbox, has accepted the invoice and given it a number.",
    pl: "KSeF lub sandbox przyjął fakturę i nadał jej numer."
  },
  "invoice.upo_available": { en: "The receipt (UPO) can be downloaded.", pl: "UPO jest gotowe do pobrania." },
  "invoice.rejected": {
    en: "KSeF, or the sandbox, has rejected the invoice.",
    pl: "KSeF lub sandbox odrzucił fakturę."
  },
  "invoice.failed": {
    en: "No decision was made on the invoice, and Govoice will not send it again.",
    pl: "Faktury nie udało się wysłać i nie będzie kolejnej próby."
  }
}

export const knownEventTypes = Object.keys(eventMeanings) as ReadonlyArray<Known<EventType>>
