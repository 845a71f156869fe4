/**
 * The codes of `400 Bad Request` with their texts, as the tables of the OpenAPI document have them.
 */
export const exceptions = {
  9101: "Nieprawidłowy dokument.",
  9102: "Brak podpisu.",
  9103: "Przekroczona liczba dozwolonych podpisów.",
  9105: "Nieprawidłowy podpis.",
  21001: "Nieczytelna treść.",
  21111: "Nieprawidłowe wyzwanie autoryzacyjne.",
  21115: "Nieprawidłowy certyfikat.",
  21117: "Nieprawidłowy identyfikator podmiotu dla wskazanego typu kontekstu.",
  21155: "Przekroczono dozwoloną liczbę faktur w sesji.",
  21157: "Nieprawidłowy rozmiar części pakietu.",
  21161: "Przekroczono dozwoloną liczbę części pakietu.",
  21164: "Faktura o podanym identyfikatorze nie istnieje.",
  21165: "Faktura o podanym numerze KSeF nie jest jeszcze dostępna.",
  21166: "Korekta techniczna niedostępna.",
  21167: "Status faktury nie pozwala na korektę techniczną.",
  21173: "Brak sesji o wskazanym numerze referencyjnym.",
  21178: "Nie znaleziono UPO dla podanych kryteriów.",
  21180: "Status sesji nie pozwala na wykonanie operacji.",
  21184: "Sesja tymczasowo niedostępna.",
  21205: "Pakiet nie może być pusty.",
  21208: "Czas oczekiwania na requesty upload lub finish został przekroczony.",
  21217: "Nieprawidłowe kodowanie znaków.",
  21301: "Brak autoryzacji.",
  21304: "Brak uwierzytelnienia.",
  21308: "Próba wykorzystania metod autoryzacyjnych osoby zmarłej.",
  21401: "Dokument nie jest zgodny ze schemą (xsd).",
  21402: "Nieprawidłowy rozmiar pliku.",
  21403: "Nieprawidłowy skrót pliku.",
  21405: "Błąd walidacji danych wejściowych.",
  21406: "Konflikt podpisu i typu uwierzytelnienia.",
  21418: "Przekazany token kontynuacji ma nieprawidłowy format.",
  21470: "Przesłany identyfikator klucza jest nieznany lub wskazuje na wycofany klucz.",
  25001: "Brak możliwości pobrania danych do CSR dla wykorzystanego sposobu uwierzytelnienia.",
  25002: "Brak możliwości złożenia wniosku certyfikacyjnego dla wykorzystanego sposobu uwierzytelnienia.",
  25003: "Dane w CSR nie zgadzają się z danymi w użytym wektorze uwierzytelniającym.",
  25004: "Niepoprawny format CSR lub niepoprawny podpis CSR.",
  25005: "Wniosek certyfikacyjny o podanym numerze referencyjnym nie istnieje.",
  25006: "Osiągnięto limit możliwych do złożenia wniosków certyfikacyjnych.",
  25007: "Osiągnięto limit dopuszczalnej liczby posiadanych certyfikatów.",
  25008: "Certyfikat o podanym numerze seryjnym nie istnieje.",
  25009: "Nie można odwołać wskazanego certyfikatu, ponieważ jest już odwołany, zablokowany lub nieważny.",
  25010: "Nieprawidłowy typ lub długość klucza.",
  25011: "Nieprawidłowy algorytm podpisu CSR.",
  26001: "Nie można nadać tokenowi uprawnień których nie posiadasz.",
  26002: "Nie można wygenerować tokena dla obecnego typu kontekstu."
} as const

/** A code of `400 Bad Request`. */
export type ExceptionCode = keyof typeof exceptions

/** Whether a number is one of the codes. */
export const isExceptionCode = (code: number): code is ExceptionCode => code in exceptions
