/** The texts of what an owner should know, in both languages: they load with the code that shows it. */
export const noticeTexts = {
  en: {
    failing: "No webhook to this endpoint has succeeded since",
    disabled: "The server switched this endpoint off: no webhook to it had succeeded since",
    repair: "Repair the receiver, then switch the endpoint on. It misses the events that happen meanwhile.",
    credential: "The KSeF credential is valid until",
    credentialRemedy: "Without a valid one, live invoices wait. Store a certificate of type Authentication.",
    offline: "The offline certificate is valid until",
    offlineRemedy: "Without a valid one, no invoice can be issued offline. Store a new certificate of type Offline.",
    token:
      "This organization logs in with a token, which the rules allow until 2026-12-31. Request a certificate of type Authentication in KSeF, and replace the token with it. A certificate cannot be obtained with a token.",
    toEndpoint: "Open the endpoint",
    toLive: "Open Live mode"
  },
  pl: {
    failing: "Żaden webhook na ten adres nie dotarł od",
    disabled: "Serwer wyłączył ten adres: żaden webhook nie dotarł na niego od",
    repair: "Napraw odbiorcę, a potem włącz adres. Zdarzenia, które zajdą do tego czasu, nie zostaną na niego wysłane.",
    credential: "Dane dostępowe do KSeF są ważne do",
    credentialRemedy: "Bez ważnych danych faktury czekają na wysłanie. Zapisz certyfikat typu Uwierzytelnienie.",
    offline: "Certyfikat offline jest ważny do",
    offlineRemedy: "Bez ważnego certyfikatu nie można wystawiać faktur offline. Zapisz nowy certyfikat typu Offline.",
    token:
      "Ta organizacja loguje się tokenem, a przepisy przewidują tokeny do 2026-12-31. Wystąp w KSeF o certyfikat typu Uwierzytelnienie i zastąp nim token. Tokenem nie można uzyskać certyfikatu.",
    toEndpoint: "Otwórz adres",
    toLive: "Otwórz tryb produkcyjny"
  }
} as const
