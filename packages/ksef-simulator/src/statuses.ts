/**
 * The statuses that the simulator can answer, with their descriptions and details, as the tables of the OpenAPI document
 * have them.
 */
import type { Status, Verdict } from "./state/records.ts"

/** Statuses of an operation of authentication. */
export const loginStatuses: Readonly<Record<number, string>> = {
  100: "Uwierzytelnianie w toku",
  200: "Uwierzytelnianie zakończone sukcesem",
  415: "Uwierzytelnianie zakończone niepowodzeniem",
  425: "Uwierzytelnienie unieważnione",
  450: "Uwierzytelnianie zakończone niepowodzeniem z powodu błędnego tokenu",
  460: "Uwierzytelnianie zakończone niepowodzeniem z powodu błędu certyfikatu",
  470: "Uwierzytelnianie zakończone niepowodzeniem",
  480: "Uwierzytelnienie zablokowane",
  500: "Nieznany błąd",
  550: "Operacja została anulowana przez system"
}

/** Statuses of an interactive session. */
export const onlineStatuses: Readonly<Record<number, string>> = {
  100: "Sesja interaktywna otwarta",
  170: "Sesja interaktywna zamknięta",
  200: "Sesja interaktywna przetworzona pomyślnie",
  415: "Błąd odszyfrowania dostarczonego klucza",
  440: "Sesja anulowana",
  445: "Błąd weryfikacji, brak poprawnych faktur"
}

/** Statuses of a batch. */
export const batchStatuses: Readonly<Record<number, string>> = {
  100: "Sesja wsadowa rozpoczęta",
  150: "Trwa przetwarzanie",
  200: "Sesja wsadowa przetworzona pomyślnie",
  405: "Błąd weryfikacji poprawności dostarczonych elementów paczki",
  415: "Błąd odszyfrowania dostarczonego klucza",
  420: "Przekroczony limit faktur w sesji",
  430: "Błąd dekompresji pierwotnego archiwum",
  435: "Błąd odszyfrowania zaszyfrowanych części archiwum",
  440: "Sesja anulowana",
  445: "Błąd weryfikacji, brak poprawnych faktur",
  500: "Nieznany błąd ({statusCode})"
}

/** Statuses of a document. */
export const invoiceStatuses: Readonly<Record<number, string>> = {
  100: "Faktura przyjęta do dalszego przetwarzania",
  150: "Trwa przetwarzanie",
  200: "Sukces",
  405: "Przetwarzanie anulowane z powodu błędu sesji",
  410: "Nieprawidłowy zakres uprawnień",
  415: "Brak możliwości wysyłania faktury z załącznikiem",
  430: "Błąd weryfikacji pliku faktury",
  435: "Błąd odszyfrowania pliku",
  440: "Duplikat faktury",
  450: "Błąd weryfikacji semantyki dokumentu faktury",
  500: "Nieznany błąd ({statusCode})",
  550: "Operacja została anulowana przez system"
}

/** Details that the tables name. */
export const details = {
  noPermissions: "Brak przypisanych uprawnień",
  revokedByUser: "Uwierzytelnienie i powiązane refresh tokeny zostały unieważnione przez użytkownika",
  wrongChallenge: "Nieprawidłowe wyzwanie autoryzacyjne",
  wrongToken: "Nieprawidłowy token",
  wrongTime: "Nieprawidłowy czas tokena",
  tokenRevoked: "Token unieważniony",
  tokenInactive: "Token nieaktywny",
  wrongEncryption: "Nieprawidłowe szyfrowanie tokena",
  wrongEncoding: "Nieprawidłowe kodowanie tokena",
  certificateExpired: "Nieważny certyfikat",
  certificateRevoked: "Certyfikat odwołany",
  untrustedChain: "Niezaufany łańcuch certyfikatów",
  wrongCertificate: "Niepoprawny certyfikat",
  blocked:
    "Podejrzenie incydentu bezpieczeństwa. Skontaktuj się z Ministerstwem Finansów przez formularz zgłoszeniowy.",
  cancelled: "Przetwarzanie zostało przerwane z przyczyn wewnętrznych systemu. Spróbuj ponownie",
  nothingSent: "Nie przesłano faktur",
  uploadTimedOut: "Przekroczono czas wysyłki"
} as const

/** A status as the API writes it. A code that no table has, which a fault can ask for, gets a description of its own. */
export const statusInfo = (
  table: Readonly<Record<number, string>>,
  { code, details: given, ...rest }: Verdict | Status
) => ({
  code,
  description: (table[code] ?? `Status ${code}`).replace("{statusCode}", String(code)),
  ...(given === undefined ? {} : { details: given }),
  ...rest
})
