/**
 * Every text of the console in Polish.
 */
import type { Texts } from "./en.ts"

const rules = new Intl.PluralRules("pl")

/** A number with its noun: 1 klucz, 2 klucze, 5 kluczy. A count that stops, such as 1000+, takes the last form. */
const plural = (count: number | string, one: string, few: string, many: string): string => {
  const number = typeof count === "number" ? count : /^\d+$/.test(count) ? Number(count) : NaN
  const form = Number.isNaN(number) ? "many" : rules.select(number)
  return `${count} ${form === "one" ? one : form === "few" ? few : many}`
}

/** The deliveries that a step ends, if their number is known. */
const ending = (count: number | string | undefined): string =>
  count === undefined
    ? "Webhooki w drodze zakończą się przy następnej próbie ze stanem „adres wyłączony”."
    : count === 0
      ? "Żaden webhook nie jest w drodze."
      : `${plural(count, "webhook w drodze zakończy się", "webhooki w drodze zakończą się", "webhooków w drodze zakończy się")} przy następnej próbie ze stanem „adres wyłączony”.`

const windowOf = (window: string): string => (window === "7d" ? "7 dni" : "24 godziny")

export const pl: Texts = {
  locale: "pl-PL",
  loading: "Wczytywanie",
  copied: "Skopiowano",
  copyFailed: "Przeglądarka nie pozwoliła na kopiowanie.",
  copyId: (id) => `Kopiuj ${id}`,
  copyRequestId: "Kopiuj identyfikator żądania",
  copySnippet: (name) => `Kopiuj ${name}`,
  tryAgain: "Spróbuj ponownie",
  asOf: "Stan z",
  cancel: "Anuluj",
  close: "Zamknij",
  save: "Zapisz",
  saved: "Zapisano",
  viewAll: "Pokaż wszystkie",
  id: "Identyfikator",
  name: "Nazwa",
  created: "Utworzono",
  updated: "Zmieniono",
  actions: "Działania",
  never: "Nigdy",
  now: "teraz",
  dangerZone: "Niebezpieczne operacje",
  skip: "Przejdź do treści",
  notShown: "Nie można teraz pokazać tej strony",
  pages: "Strony",
  newer: "Nowsze",
  older: "Starsze",
  perPage: (count) => `${count} na stronie`,
  seconds: (count) => `${count} s`,
  minutes: (count) => `${count} min`,
  hours: (count) => `${count} godz.`,
  days: (count) => plural(count, "dzień", "dni", "dni"),
  ago: (amount) => `${amount} temu`,
  inTime: (amount) => `za ${amount}`,
  justNow: "przed chwilą",
  barsLabel: (total, trouble) => `webhooki: ${total}, w tym ponawiane lub nieudane: ${trouble}`,

  updating: {
    updated: "Zaktualizowano",
    paused: "Wstrzymano",
    pause: "Strona odświeża się sama. Wstrzymaj",
    resume: "Wstrzymano. Wznów"
  },

  status: {
    invoice: {
      queued: "W kolejce",
      submitting: "Wysyłana",
      retrying: "Ponawiana",
      submitted: "Wysłana",
      accepted: "Przyjęta",
      rejected: "Odrzucona",
      failed: "Nieudana"
    },
    delivery: {
      pending: "Oczekuje",
      delivering: "Wysyłany",
      retrying: "Ponawiany",
      succeeded: "Dostarczony",
      failed: "Nieudany",
      endpoint_disabled: "Adres wyłączony"
    }
  },
  meanings: {
    invoice: {
      queued: "Faktura jest zapisana i czeka na swoją kolej.",
      submitting: "Faktura jest właśnie wysyłana.",
      retrying: "Ostatnia próba się nie udała. Govoice sam spróbuje ponownie.",
      submitted: "KSeF otrzymał fakturę i jeszcze jej nie rozpatrzył.",
      accepted: "KSeF przyjął fakturę i nadał jej numer. UPO może pojawić się później.",
      rejected: "KSeF odrzucił fakturę.",
      failed: "Faktury nie udało się wysłać i nie będzie kolejnej próby."
    },
    testInvoice: {
      submitted: "Sandbox otrzymał fakturę i jeszcze jej nie rozpatrzył.",
      accepted: "Sandbox przyjął fakturę i nadał jej numer. UPO może pojawić się później.",
      rejected: "Sandbox odrzucił fakturę.",
      failed: "Faktury nie udało się wysłać i nie będzie kolejnej próby."
    },
    delivery: {
      pending: "Czeka na pierwszą próbę.",
      delivering: "Jest właśnie wysyłany.",
      succeeded: "Odpowiedź miała status 2xx.",
      retrying: "Ostatnia próba się nie udała. Govoice sam spróbuje ponownie.",
      failed: "Nie będzie kolejnej próby.",
      endpoint_disabled: "Gdy webhook miał zostać wysłany, adres był wyłączony lub usunięty."
    }
  },
  mode: { title: "Tryb", test: "TEST", live: "PRODUKCJA" },

  problems: {
    connection_failed: "Nie można połączyć się z serwerem. Sprawdź połączenie.",
    connection_error: "Nie można połączyć się z serwerem. Sprawdź połączenie.",
    timeout: "Serwer nie odpowiedział na czas.",
    missing_access_token: "Sesja wygasła. Zaloguj się ponownie.",
    rate_limit_exceeded: "Za dużo żądań w krótkim czasie. Odczekaj minutę i spróbuj ponownie.",
    invalid_credentials: "Adres e-mail lub hasło jest nieprawidłowe.",
    email_taken: "Konto z tym adresem e-mail już istnieje. Zaloguj się albo podaj inny adres.",
    signup_disabled: "Zakładanie kont jest w tej instalacji wyłączone. Poproś o konto jej administratora.",
    invalid_refresh_token: "Sesja wygasła. Zaloguj się ponownie.",
    cross_site_request: "Żądanie przyszło z innej strony. Otwórz konsolę na nowo.",
    limit_reached: "Osiągnięto limit tej instalacji. Najpierw coś usuń.",
    unsafe_webhook_url: "Na ten adres webhooki nie są wysyłane. Podaj publiczny adres https.",
    live_mode_unavailable: "Tryb produkcyjny jest niedostępny. Strona „Tryb produkcyjny” pokazuje, czego brakuje.",
    invoice_not_found: "W tej organizacji nie ma takiej faktury.",
    organization_not_found: "Na tym koncie nie ma takiej organizacji.",
    api_key_not_found: "Ten klucz został już unieważniony.",
    webhook_endpoint_not_found: "Na tym koncie nie ma takiego adresu webhooków albo został usunięty.",
    webhook_delivery_not_found: "Nie ma takiego webhooka albo został usunięty razem ze zdarzeniem.",
    upo_not_available: "UPO nie jest jeszcze dostępne.",
    service_unavailable: "Serwer jest przeciążony lub trwają prace serwisowe. Spróbuj ponownie za chwilę.",
    wrong_cell: "Organizacja jest przenoszona na inny serwer. Spróbuj ponownie za chwilę.",
    internal_error:
      "Błąd serwera. Spróbuj ponownie, a jeśli błąd się powtórzy, podaj administratorowi identyfikator żądania.",
    request_timeout: "Żądanie trwało zbyt długo. Spróbuj ponownie.",
    unexpected_response: "Serwer odpowiedział w nieoczekiwany sposób. Spróbuj ponownie."
  },

  fieldProblems: {
    email: "Podaj pełny adres e-mail, na przykład jan@example.com.",
    password: "Hasło musi mieć od 12 do 128 znaków.",
    new_password: "Hasło musi mieć od 12 do 128 znaków.",
    name: "Nazwa musi mieć od 1 do 200 znaków.",
    description: "Notatka może mieć najwyżej 500 znaków.",
    max_in_flight: "Podaj liczbę całkowitą, nie większą niż limit organizacji.",
    context: "Cyfry kontrolne są nieprawidłowe albo token wydano dla innego kontekstu.",
    token: "To nie jest token KSeF.",
    private_key_password: "To hasło nie pasuje do klucza prywatnego."
  },

  insecure: {
    title: "Potrzebne jest bezpieczne połączenie",
    sentence:
      "Konsola działa przez https, a na tym komputerze (127.0.0.1 lub localhost) także przez http. Otwórz ją pod takim adresem."
  },
  unreachable: {
    title: "Brak połączenia",
    notRenewed: "Nie udało się przedłużyć sesji",
    goesOn: (time) => `Sesja jest nadal aktywna. Strona sama spróbuje ponownie za ${time}.`
  },
  apiDisabled: {
    title: "API jest wyłączone",
    sentence: "Administrator wyłączył API tej instalacji. Konsola zadziała, gdy API znów będzie włączone."
  },
  notFound: {
    title: "Nic tu nie ma",
    sentence:
      "Na Twoim koncie nie ma niczego pod tym adresem. Strona może należeć do innego konta albo została usunięta.",
    home: "Przejdź do przeglądu"
  },
  failure: {
    title: "Błąd strony",
    sentence: "Wystąpił błąd konsoli. Nic nie zostało zmienione. Odśwież stronę.",
    reload: "Odśwież"
  },
  go: {
    title: "Szukaj",
    none: (id) => `Na tym koncie nie ma niczego o identyfikatorze ${id.slice(0, 64)}.`
  },

  login: {
    title: "Logowanie",
    email: "Adres e-mail",
    password: "Hasło",
    remember: "Nie wylogowuj mnie na tym komputerze",
    submit: "Zaloguj się",
    busy: "Logowanie…",
    noAccount: "Nie masz konta?",
    toSignUp: "Załóż konto",
    toForgot: "Nie pamiętasz hasła?",
    signUpClosed: "Zakładanie kont jest w tej instalacji wyłączone. Poproś o konto jej administratora."
  },
  forgot: {
    title: "Nie pamiętasz hasła?",
    meaning: "Wyślemy link na Twój adres e-mail. Działa przez 30 minut.",
    submit: "Wyślij link",
    busy: "Wysyłanie…",
    sentTitle: "Sprawdź pocztę",
    sent: "Jeśli istnieje konto z tym adresem, link jest już w drodze. Może to potrwać kilka minut. Zajrzyj też do spamu.",
    unavailable: "Ta instalacja nie wysyła poczty. Poproś o nowe hasło jej administratora.",
    toLogin: "Wróć do logowania"
  },
  reset: {
    title: "Ustaw nowe hasło",
    meaning: "Wszystkie sesje konta zostaną zakończone. Klucze API pozostaną ważne.",
    password: "Nowe hasło",
    submit: "Zapisz hasło",
    busy: "Zapisywanie…",
    doneTitle: "Hasło zapisane",
    done: "Wszystkie sesje zostały zakończone. Zaloguj się nowym hasłem.",
    invalid: "Link został już użyty, wygasł albo zastąpił go nowszy.",
    again: "Poproś o nowy link",
    toLogin: "Zaloguj się"
  },
  signup: {
    title: "Zakładanie konta",
    submit: "Załóż konto",
    busy: "Zakładanie konta…",
    passwordHint: "Od 12 do 128 znaków.",
    passwordEnough: "Hasło jest wystarczająco długie.",
    hasAccount: "Masz już konto?",
    toLogin: "Zaloguj się",
    closed: "Zakładanie kont jest w tej instalacji wyłączone. Poproś o konto jej administratora."
  },

  nav: {
    label: "Menu główne",
    home: "Govoice, przegląd",
    overview: "Przegląd",
    invoices: "Faktury",
    deliveries: "Webhooki",
    endpoints: "Adresy webhooków",
    keys: "Klucze API",
    live: "Tryb produkcyjny",
    settings: "Ustawienia",
    organizations: "Organizacje",
    newOrganization: "Nowa organizacja",
    account: "Konto",
    accountSettings: "Konto",
    logout: "Wyloguj się",
    failedDay: (count) => `${plural(count, "nieudany", "nieudane", "nieudanych")} w ciągu 24 godzin`
  },
  help: {
    title: "Pomoc",
    guides: "Poradniki (po angielsku)",
    integrators: "Poradnik: dla integratorów",
    reference: "Dokumentacja API (po angielsku)",
    keys: "Skróty klawiszowe",
    live: "Poradnik: tryb produkcyjny (po angielsku)",
    sandbox: "Poradnik: sandbox (po angielsku)",
    webhooks: "Poradnik: odbieranie webhooków (po angielsku)",
    console: "Poradnik: konsola (po angielsku)"
  },
  theme: {
    system: "Systemowy",
    light: "Jasny",
    dark: "Ciemny",
    button: (current, next) => `Motyw: ${current.toLowerCase()}. Zmień na ${next.toLowerCase()}`
  },
  palette: {
    open: "Szukaj strony lub identyfikatora",
    placeholder: "Strona, identyfikator lub faktura: jej numer, nabywca, order=4711",
    results: "Wyniki",
    none: "Nic nie pasuje. Wklej cały identyfikator albo cały numer faktury.",
    invoices: (name, text) => `Faktury, ${name}: ${text}`,
    goTo: (id) => `Przejdź do ${id}`
  },
  keys: {
    title: "Skróty klawiszowe",
    single: "Skróty jednoklawiszowe",
    list: [
      [["⌘ K", "Ctrl K"], "Szukaj strony lub identyfikatora"],
      [["g", "o"], "Przegląd"],
      [["g", "i"], "Faktury"],
      [["g", "d"], "Webhooki"],
      [["g", "e"], "Adresy webhooków"],
      [["g", "k"], "Klucze API"],
      [["/"], "Pierwszy filtr"],
      [["j", "k"], "Następny i poprzedni wiersz"],
      [["Enter"], "Otwórz wybrany wiersz"],
      [["c"], "Kopiuj identyfikator wybranego wiersza"],
      [["Esc"], "Zamknij otwarte menu lub okno"],
      [["?"], "Ta lista skrótów"]
    ]
  },

  account: {
    title: "Dane konta",
    password: "Hasło",
    currentPassword: "Obecne hasło",
    newPassword: "Nowe hasło",
    passwordHint: "Od 12 do 128 znaków. Wszystkie inne sesje zostaną zakończone.",
    wrongPassword: "Obecne hasło jest nieprawidłowe.",
    changePassword: "Zmień hasło",
    passwordChanged: "Hasło zostało zmienione. Inne sesje zostały zakończone",
    logins: "Sesje",
    loginsMeaning:
      "Sesja kończy się w tej przeglądarce od razu, a na pozostałych serwerach instalacji w ciągu 10 sekund.",
    logoutHere: "Wyloguj się tutaj",
    logoutEverywhere: "Wyloguj się wszędzie",
    preferences: "Preferencje",
    preferencesMeaning: "Zapisane w tej przeglądarce.",
    language: "Język",
    languages: { browser: "Jak w przeglądarce", en: "English", pl: "Polski" },
    theme: "Motyw",
    density: "Odstępy",
    dense: "Małe",
    comfortable: "Duże",
    timeZone: "Strefa czasowa",
    local: (zone) => `Lokalna (${zone})`
  },
  organization: {
    title: "Organizacja",
    create: "Nowa organizacja",
    meaning: "Do organizacji należą klucze API, adresy webhooków i faktury. Zwykle jest to jedna firma.",
    name: "Nazwa",
    nameHint: "Można ją później zmienić.",
    submit: "Utwórz organizację",
    cannotDelete: "Organizacji nie można usunąć. Aby zatrzymać jej ruch, unieważnij klucze i usuń adresy webhooków."
  },

  secret: {
    once: "Sekret zobaczysz tylko ten jeden raz. Zapisz go teraz.",
    copy: "Kopiuj",
    copyExport: (variable) => `Kopiuj jako export ${variable}=…`,
    stored: "Mam zapisany sekret",
    done: "Gotowe",
    leave: "Sekret nie został zapisany i nie zostanie pokazany ponownie. Czy mimo to opuścić stronę?"
  },
  snippet: {
    install: "Zainstaluj",
    save: (file) => `Zapisz jako ${file}`,
    run: "Uruchom"
  },

  apiKeys: {
    create: "Nowy klucz API",
    submit: "Utwórz klucz",
    list: "Klucze API tej organizacji",
    unnamed: "Bez nazwy",
    key: "Klucz",
    expires: "Ważny do",
    expired: "Wygasł",
    expiresHint: "Klucz, który wygasł, jest odrzucany.",
    nameHint: "Dla Ciebie: gdzie klucz jest używany.",
    testMeaning: "Działa w sandboxie. Nic nie trafia do KSeF.",
    liveMeaning: "Wysyła prawdziwe faktury do KSeF.",
    liveModeOff:
      "Tryb produkcyjny jest w tej instalacji wyłączony: klucz nie wyśle faktur, dopóki administrator go nie włączy.",
    empty: "Nie ma jeszcze klucza API. Klucz testowy wysyła faktury do sandboxa.",
    use: "Użyj klucza",
    createdTitle: (mode) => `Nowy klucz API (${mode})`,
    revoke: "Unieważnij",
    revokeKey: (last4) => `Unieważnij klucz z końcówką ${last4}`,
    revokeTitle: (last4) => `Unieważnić klucz z końcówką ${last4}?`,
    revokeMeaning: "Żądania z tym kluczem od razu przestaną działać. Tego nie można cofnąć.",
    typeLast4: (last4) => `Wpisz ${last4}, aby potwierdzić`,
    revoked: "Klucz unieważniony"
  },

  endpoints: {
    endpoint: "Adres",
    create: "Nowy adres webhooków",
    submit: "Dodaj adres",
    list: "Adresy webhooków",
    empty: "Nie ma jeszcze żadnego adresu. Dodaj adres, pod którym Twój program odbiera webhooki.",
    url: "URL",
    urlHint: "Publiczny adres https. Przekierowania nie są obsługiwane: podaj adres docelowy.",
    localMeaning:
      "Serwer wysyła tylko na adresy publiczne. Aby wypróbować program na tym komputerze, uruchom serwer ponownie z dwoma ustawieniami:",
    localSettings: "Ustawienia dla programów na tym komputerze",
    note: "Notatka",
    general: "Adres",
    standard: "Podpisuj także zgodnie ze Standard Webhooks",
    standardHint: "Dodaje webhook-id, webhook-timestamp i webhook-signature dla bibliotek tej specyfikacji.",
    types: "Rodzaje zdarzeń",
    all: "Wszystkie zdarzenia",
    allHint: "Także rodzaje dodane w przyszłości.",
    allShort: "Wszystkie",
    some: "Wybrane zdarzenia",
    modes: "Tryby",
    modeHints: {
      test: "Zdarzenia faktur z sandboxa.",
      live: "Zdarzenia faktur wysyłanych do KSeF."
    },
    maxInFlight: "Równoczesne żądania",
    maxInFlightHint: "Ile żądań naraz może dostać Twój program. Puste pole oznacza limit organizacji.",
    headers: "Nagłówki",
    headersMeaning:
      "Wysyłane z każdym webhookiem, na przykład dla bramy przed Twoim programem, która wymaga klucza. Wartości nigdy nie są pokazywane.",
    noHeaders: "Brak",
    headerNames: "Wysyłane teraz",
    newHeaders: "Nowe nagłówki",
    newHeadersHint:
      "Po jednym w wierszu, na przykład X-Api-Key: wartość; najwyżej 10. Zastąpią wszystkie obecne nagłówki.",
    headerFault: "Każdy wiersz musi mieć nazwę, dwukropek i wartość.",
    replaceHeaders: "Zastąp nagłówki",
    removeHeaders: "Usuń wszystkie",
    headersSaved: "Nagłówki zapisane",
    typeCount: (count) => plural(count, "rodzaj", "rodzaje", "rodzajów"),
    state: "Stan",
    on: "Włączony",
    off: "Wyłączony",
    switch: "Odbiera zdarzenia",
    window: windowOf,
    barsOf: (url, window) => `Webhooki na adres ${url}, ostatnie ${windowOf(window)}`,
    faults: {
      unreadable: "Podaj pełny adres URL, na przykład https://sklep.example.com/hooks/govoice.",
      scheme: "Użyj https.",
      userInfo: "URL nie może zawierać nazwy użytkownika ani hasła. Zamiast tego sprawdzaj podpis.",
      fragment: "URL nie może mieć fragmentu (#…): nigdy nie jest wysyłany."
    },
    createdTitle: "Sekret podpisu nowego adresu",
    secretMeaning:
      "Tym sekretem Twój program sprawdza podpis każdego webhooka. Ustaw go jako WEBHOOK_SECRET i uruchom program:",
    receiver: "Program odbierający",
    receiverMeaning:
      "Ten program sprawdza podpis i odpowiada 204. Uruchom go z sekretem podpisu w zmiennej WEBHOOK_SECRET.",
    noResend:
      "Govoice nie wysyła tego samego zdarzenia drugi raz na żądanie. Aby wypróbować program, wyślij fakturę testową: jej zdarzenia są prawdziwe.",
    tabs: "Części adresu",
    tab: { health: "Stan", deliveries: "Webhooki", receiver: "Program odbierający", settings: "Ustawienia" },
    rotationPending: "Nowy sekret podpisu czeka na swoją kolej. Stary obowiązuje do",
    turnedOn: "Adres włączony",
    turnedOff: "Adres wyłączony",
    deleted: "Adres usunięty",
    turnOff: "Wyłącz",
    turnOffTitle: "Wyłączyć ten adres?",
    turnOffRow:
      "Adres nie dostaje zdarzeń, dopóki go znów nie włączysz. Zdarzenia z tego czasu nie zostaną wysłane później.",
    turnOffMeaning: (count) =>
      `${ending(count)} Zdarzenia od tej chwili nie będą wysyłane na ten adres, także po jego ponownym włączeniu.`,
    secretTitle: "Sekret podpisu",
    secretRow: "Nowy sekret zacznie obowiązywać w wybranej chwili. Do tego czasu obowiązuje stary.",
    rotate: "Wymień sekret",
    delete: "Usuń",
    deleteTitle: "Usunąć ten adres?",
    deleteRow: "Webhooki tego adresu zakończą się i znikną z listy. Tego nie można cofnąć.",
    deleteMeaning: (count) => `${ending(count)} Jego webhooki znikną z listy. Tego nie można cofnąć.`,
    typeHost: (host) => `Wpisz ${host}, aby potwierdzić`
  },
  rotation: {
    title: "Wymiana sekretu podpisu",
    meaning:
      "Dopóki nowy sekret nie zacznie obowiązywać, webhooki są podpisywane starym. W tym czasie wdróż program, który przyjmuje oba.",
    when: "Nowy sekret zacznie obowiązywać",
    delays: { 0: "od razu", 3600: "za godzinę", 86400: "za 24 godziny", 604800: "za 7 dni" },
    proposed: "Zalecane: dłużej, niż trwa wdrożenie.",
    nowWarning: "Program będzie odrzucał webhooki, dopóki nie dostanie nowego sekretu.",
    replaces: "Inna wymiana już czeka. Ta ją zastąpi.",
    snippet: "Sprawdzanie podpisu z oboma sekretami",
    doneTitle: "Nowy sekret podpisu",
    activeNow: "Obowiązuje od tej chwili.",
    oldSignsUntil: "Stary sekret obowiązuje do"
  },

  health: {
    title: "Webhooki",
    caption: (window) => `Webhooki, ostatnie ${windowOf(window)}`,
    chart: (seconds) => (seconds >= 7200 ? `Webhooki co ${seconds / 3600} godz.` : "Webhooki według godzin"),
    legend: "Czerwone: ponawiane lub nieudane.",
    show7d: "Pokaż 7 dni",
    show24h: "Pokaż 24 godziny",
    asTable: "Jako tabela",
    asBars: "Jako wykres",
    waiting: "Oczekują",
    retrying: "Ponawiane",
    failed: (window) => `Nieudane, ${windowOf(window)}`,
    time: "Czas dostarczenia, mediana / 95%",
    timeNote: (count) => `z ostatnich ${count} dostarczonych za pierwszym razem`,
    timeNone: "żaden webhook nie został jeszcze dostarczony za pierwszym razem",
    timeUnread: "nie można teraz odczytać",
    period: "Od",
    deliveries: "Webhooki",
    retryingNow: "Ponawiane",
    failedHead: "Nieudane",
    disabled: "Adres wyłączony",
    empty: "W tym czasie nie było żadnych webhooków.",
    emptyAction: "Przygotuj program odbierający",
    reasons: "Przyczyny niepowodzeń",
    reason: "Ostatnia odpowiedź",
    noReasons: "Nie ma ponawianych ani nieudanych webhooków.",
    newest: "Najnowszy",
    reasonsNote: (count) => `Z ostatnich ${count} ponawianych lub nieudanych.`
  },

  list: {
    status: "Stan",
    all: "Wszystkie",
    waiting: (count) => `Dostępne nowe wiersze: ${count}`,
    show: (count) => `Nowe: ${count} · pokaż`,
    olderPage: "Starsza strona: nie odświeża się",
    newestFirst: "Od najnowszych",
    inDay: (count) => `${count} w ciągu 24 godzin`,
    now: (count) => `${count} teraz`,
    dropped: (names) =>
      `${names.length === 1 ? "Tej części adresu strony nie można odczytać, więc została pominięta" : "Tych części adresu strony nie można odczytać, więc zostały pominięte"}: ${names.join(", ").slice(0, 120)}.`
  },
  filters: {
    label: "Filtry",
    clear: "Wyczyść filtry",
    remove: (label) => `Usuń filtr ${label}`,
    allEndpoints: "Wszystkie adresy",
    allTypes: "Wszystkie rodzaje",
    allStatuses: "Wszystkie stany",
    time: "Czas",
    anyTime: "Dowolny czas",
    lastHour: "Ostatnia godzina",
    lastDay: "Ostatnie 24 godziny",
    lastWeek: "Ostatnie 7 dni",
    range: "Własny zakres",
    from: (zone) => `Od (${zone})`,
    to: (zone) => `Do (${zone})`,
    apply: "Zastosuj"
  },

  delivery: {
    title: "Webhook",
    titleOf: {
      pending: "Oczekujące webhooki",
      delivering: "Wysyłane webhooki",
      succeeded: "Dostarczone webhooki",
      retrying: "Ponawiane webhooki",
      failed: "Nieudane webhooki",
      endpoint_disabled: "Webhooki na wyłączone adresy"
    },
    titleOfOne: (id) => `Webhook ${id}`,
    list: "Webhooki",
    listAll: "Webhooki na wszystkie adresy",
    event: "Zdarzenie",
    attempts: "Próby",
    response: "Odpowiedź",
    noResponse: "brak",
    next: "następna",
    empty: "Nie ma jeszcze webhooków. Każde zdarzenie jest wysyłane na każdy adres, który odbiera jego rodzaj.",
    emptyFiltered: (days) =>
      `Żaden webhook nie pasuje do tych filtrów.${days === undefined ? "" : ` Webhooki są przechowywane co najmniej ${plural(days, "dzień", "dni", "dni")} od zdarzenia.`}`,
    planned: "Zaplanowany",
    attempt: (count) => `Próba ${count}`,
    earlier: (count) =>
      plural(count, "wcześniejsza próba nieudana", "wcześniejsze próby nieudane", "wcześniejszych prób nieudanych"),
    nextAttempt: "Następna próba",
    course: "Przebieg",
    noInvoice: "Zdarzenie zostało już usunięte",
    ends: {
      pending: "Czeka na pierwszą próbę",
      delivering: "Jest wysyłany",
      failed: "Nieudany: nie będzie kolejnych prób",
      endpoint_disabled: "Zakończony bez wysłania: adres był wyłączony"
    },
    whatToDo: "Co zrobić",
    neverTwice: "Govoice nie wysyła tego samego zdarzenia drugi raz na żądanie. Aktualny stan jest przy fakturze.",
    allOfEvent: "Wszystkie webhooki tego zdarzenia",
    eventId: "Identyfikator zdarzenia",
    id: "Identyfikator webhooka"
  },
  advice: {
    succeeded: "Nic: odpowiedź miała status 2xx.",
    underway: "Nic: webhook jest w drodze.",
    disabled: "Adres był wyłączony lub usunięty, zanim zdarzenie zostało wysłane. Włącz go, aby odbierać kolejne.",
    refused:
      "Program odbierający odmawia. Sprawdź, czy ma aktualny sekret podpisu i czy nie stoi przed nim logowanie lub zapora.",
    gone: "Ta ścieżka nie istnieje. Popraw URL adresu albo ścieżkę w programie odbierającym.",
    redirect: "Adres przekierowuje, a przekierowania nie są obsługiwane. Podaj adres docelowy w ustawieniach.",
    slow: "Program prosi o zwolnienie tempa. Govoice stosuje się do Retry-After i spróbuje ponownie o podanej wyżej godzinie.",
    clientError:
      "Program odbierający odrzuca żądanie. Powód jest w jego logach: często podpis się nie zgadza albo treść została przetworzona przed sprawdzeniem podpisu.",
    serverError:
      "Błąd programu odbierającego. Powód jest w jego logach z chwili próby. Govoice ponawia wysyłkę, dopóki pozostają próby, i stosuje się do Retry-After przy 503.",
    timeout:
      "Program nie odpowiedział na czas. Odpowiadaj 2xx od razu po zapisaniu zdarzenia, a przetwarzaj je później.",
    connection:
      "Brak połączenia, więc program nie zobaczył żądania: nieprawidłowa jest nazwa, port lub certyfikat. Govoice ponawia wysyłkę, dopóki pozostają próby.",
    address:
      "URL prowadzi na niedozwolony adres, na przykład w sieci prywatnej. Podaj adres publiczny albo poproś administratora o dopuszczenie tej sieci.",
    interrupted: "Wysyłanie zostało przerwane. To błąd instalacji: podaj administratorowi identyfikator webhooka.",
    operator: "To błąd instalacji. Podaj administratorowi identyfikator webhooka.",
    other: "Sprawdź logi programu odbierającego z chwili ostatniej próby."
  },

  noResponse: {
    disabled: "brak",
    timeout: "przekroczony czas",
    connection: "brak połączenia",
    address: "niedozwolony adres",
    interrupted: "nie wysłano",
    operator: "nie wysłano"
  },

  connectionCauses: {
    how: "Uruchom to spoza swojej sieci. Wynik wskazuje przyczynę:",
    snippet: "Połącz się z programem odbierającym",
    ofTls: [
      {
        output: "wrong version number",
        remedy: "Port działa bez szyfrowania. Użyj portu z TLS albo serwera pośredniczącego, który ma certyfikat."
      },
      {
        output: "SSL",
        remedy:
          "Certyfikat jest nieprawidłowy: wygasł, jest podpisany przez siebie, dotyczy innej nazwy albo brakuje certyfikatów pośrednich. Zainstaluj certyfikat publicznego urzędu certyfikacji z pełnym łańcuchem."
      }
    ],
    addresses: [
      {
        output: "Could not resolve host",
        remedy: "Nazwa nie ma adresu. Sprawdź jej pisownię w URL i wpisy DNS."
      },
      { output: "Connection refused", remedy: "Na tym porcie nic nie działa. Uruchom program albo popraw port." },
      { output: "timed out", remedy: "Zapora blokuje połączenie. Otwórz port od strony internetu." }
    ]
  },

  invoice: {
    title: "Faktura",
    titleOf: {
      queued: "Faktury w kolejce",
      submitting: "Wysyłane faktury",
      retrying: "Ponawiane faktury",
      submitted: "Wysłane faktury",
      accepted: "Przyjęte faktury",
      rejected: "Odrzucone faktury",
      failed: "Nieudane faktury"
    },
    list: "Faktury",
    number: "Numer",
    officialNumber: "Numer KSeF",
    copyNumber: "Kopiuj numer KSeF",
    scenario: "Scenariusz",
    metadataOf: (name) => `Metadane: ${name}`,
    names: {
      number: "numer faktury",
      official: "numer KSeF",
      buyer: "NIP nabywcy",
      seller: "NIP sprzedawcy",
      metadata: "metadane",
      key: "Idempotency-Key"
    },
    placeholders: {
      number: "FV/2026/11/0042",
      official: "5265877635-20261120-…",
      buyer: "5260250274, DE123456789",
      seller: "5265877635",
      metadata: "order=4711",
      key: "invoice-0042"
    },
    findBy: "Szukaj faktur według",
    find: "Szukaj faktur",
    empty: "Nie ma jeszcze faktur. Wyślij pierwszą kluczem testowym:",
    emptyFiltered: "Żadna faktura nie pasuje do tych filtrów.",
    life: "Etapy faktury",
    upo: "UPO",
    upoMeaning: (mode) =>
      `${mode === "test" ? "Sandbox" : "KSeF"} przyjął fakturę i nadał jej numer. UPO jest gotowe do pobrania.`,
    passed: "(zakończony)",
    ahead: "(przed fakturą)",
    download: "Pobierz UPO",
    downloadDocument: "Pobierz XML",
    downloadPdf: "Pobierz PDF",
    downloadQr: (format) => `Pobierz ${format}`,
    sellersNumber: "Numer faktury",
    issueDate: "Data wystawienia",
    seller: "Sprzedawca",
    buyer: "Nabywca",
    total: "Kwota należności ogółem",
    form: "Wzór",
    attempts: "Próby",
    submittedAt: "Wysłano",
    completedAt: "Zakończono",
    code: "Kod",
    position: "Miejsce",
    positionOf: (line, column) => `wiersz ${line}, kolumna ${column}`,
    warningsMeaning: "KSeF nie odrzuca z tego powodu faktury, ale warto to sprawdzić:",
    deliveries: "Webhooki tej faktury",
    noDeliveries: "Na żaden adres nie wysłano zdarzenia tej faktury.",
    verification: "Weryfikacja (KOD I)",
    verificationMeaning:
      "Umieść ten kod QR na fakturze: każdy może sprawdzić z nim fakturę w KSeF. Faktur z sandboxa KSeF nie zna.",
    qrLabel: "Kod QR z linkiem do weryfikacji",
    copyLink: "Kopiuj link",
    certificateCode: "Certyfikat (KOD II)",
    certificateCodeMeaning:
      "Umieść ten kod QR obok pierwszego, z napisem CERTYFIKAT pod spodem: pokazuje, kto wystawił fakturę, zanim trafiła do KSeF.",
    certificateQrLabel: "Kod QR z linkiem certyfikatu",
    issued: "Wystawiona",
    online: "online",
    offline: "offline",
    officialMode: "Tryb w KSeF",
    sendBy: "Termin wysłania",
    sendByNear: (day) =>
      `Ta faktura została wystawiona offline i nie jest jeszcze wysłana. Musi trafić do KSeF do ${day}.`,
    corrects: "Koryguje"
  },

  live: {
    conditions: "Czego wymaga tryb produkcyjny",
    met: "Spełnione:",
    open: "Niespełnione:",
    environment: "Środowisko KSeF:",
    deploymentOn: "Tryb produkcyjny jest w tej instalacji włączony.",
    deploymentOff: "Tryb produkcyjny jest w tej instalacji wyłączony. Może go włączyć administrator.",
    credentialStored: "Dane dostępowe do KSeF są zapisane.",
    credentialMissing: "Dane dostępowe do KSeF nie są jeszcze zapisane.",
    credentialAccepted: "KSeF akceptuje te dane dostępowe.",
    credentialRefused: "KSeF odrzuca te dane dostępowe.",
    credentialUnchecked:
      "Dane dostępowe nie zostały jeszcze sprawdzone. Gdy tryb produkcyjny jest włączony, serwer zaloguje się w ciągu kilku sekund albo gdy tylko KSeF będzie dostępny.",
    waiting: "Faktury bez rozstrzygnięcia",
    waitingMeaning: "Czekające tu faktury zostaną wysłane, gdy pozwolą na to KSeF i jego limity.",
    waitingHere: "Czekają tutaj",
    showWaiting: "Pokaż faktury",
    waitingQueued: "w kolejce",
    waitingRetrying: "do ponownego wysłania",
    undecided: "W KSeF, jeszcze nierozpatrzone",
    oldest: "najstarsza",
    limits: "Limity KSeF, ostatnia godzina",
    noLimits: "KSeF podaje swoje limity, gdy zaakceptuje dane dostępowe.",
    group: "Wywołania",
    used: "Użyte",
    perHour: "Dozwolone na godzinę",
    unlimited: "bez limitu",
    blocked: "Znów przyjmuje"
  },
  certificateFile: {
    label: "Pliki",
    hint: "Certyfikat i jego klucz w PEM albo jeden plik PKCS#12 (.p12, .pfx). Pliki odczytuje Twoja przeglądarka.",
    password: (name: string) => `Hasło pliku ${name}`,
    faults: {
      incomplete: "W tym pliku nie ma certyfikatu z kluczem prywatnym. Wybierz inny.",
      "old-encryption":
        "Ten plik jest zaszyfrowany w sposób, którego przeglądarki nie odczytują. Przekształć go: openssl pkcs12 -legacy -in stary.p12 -out nowy.pem. Potem wybierz nowy.pem.",
      unreadable: "To nie jest plik PEM ani PKCS#12. Wybierz inny.",
      "wrong-password": "Hasło tego pliku jest błędne."
    }
  },

  credential: {
    title: "Dane dostępowe do KSeF",
    none: "Nie ma zapisanych danych dostępowych. Utwórz certyfikat lub token w aplikacji KSeF podatnika i zapisz go tutaj.",
    kind: "Rodzaj",
    token: "Token KSeF",
    tokenHint: "KSeF przyjmuje tokeny do końca 2026 roku.",
    certificate: "Certyfikat",
    certificateHint: "Certyfikat KSeF typu Uwierzytelnienie wraz z kluczem prywatnym.",
    certificatePem: "Certyfikat (PEM)",
    privateKey: "Klucz prywatny (PEM)",
    privateKeyPassword: "Hasło klucza prywatnego",
    passwordHint: "Tylko jeśli klucz jest zaszyfrowany. Hasło nie jest zapisywane.",
    writeOnly: "Zapisywane w postaci zaszyfrowanej. Nigdy więcej nie zostaną pokazane.",
    context: "Kontekst logowania",
    contexts: { Nip: "NIP", InternalId: "Identyfikator wewnętrzny", NipVatUe: "NIP i numer VAT UE" },
    contextHints: {
      Nip: "Podatnik, którego faktury są wysyłane: dziesięć cyfr.",
      InternalId: "Jednostka podatnika: NIP, łącznik i pięć cyfr, np. 5265877635-12346.",
      NipVatUe:
        "Do samofakturowania przez nabywcę z innego kraju UE: NIP sprzedawcy, łącznik i numer VAT UE nabywcy, np. 5265877635-DE123456789. KSeF przyjmuje tylko ten certyfikat, któremu nadano uprawnienia."
    },
    contextFaults: {
      Nip: "NIP ma dziesięć cyfr, a ostatnia jest cyfrą kontrolną. Ten numer jest nieprawidłowy.",
      InternalId: "Identyfikator wewnętrzny to NIP, łącznik i pięć cyfr. Ten jest nieprawidłowy.",
      NipVatUe: "Podaj NIP, łącznik i numer VAT UE z kodem kraju."
    },
    environment: "Środowisko",
    state: "Stan",
    states: { accepted: "Zaakceptowane", refused: "Odrzucone", unchecked: "Jeszcze niesprawdzone" },
    refusalCode: "Kod odmowy:",
    expires: "Ważny do",
    checked: "Ostatnie logowanie",
    storedAt: "Zapisano",
    store: "Zapisz dane dostępowe",
    stored: "Dane dostępowe zapisane",
    replace: "Zastąp dane dostępowe",
    replaceMeaning: "Nowe dane dostępowe od razu zastąpią stare. Czekające faktury zostaną wysłane z nowymi.",
    remove: "Usuń dane dostępowe",
    removeTitle: "Usunąć dane dostępowe do KSeF?",
    removeRow: "Faktury nie będą wysyłane do KSeF, dopóki nie zapiszesz innych danych dostępowych.",
    removeMeaning:
      "Bez nich klucze produkcyjne nie wyślą faktur, a czekające faktury nie zostaną wysłane, dopóki nie zapiszesz innych.",
    typeName: (name) => `Wpisz ${name}, aby potwierdzić`,
    removed: "Dane dostępowe usunięte"
  },

  offlineCertificate: {
    title: "Certyfikat do wystawiania offline",
    none: "Certyfikat nie jest zapisany, więc prawdziwych faktur nie można wystawiać offline. Pobierz w KSeF certyfikat typu Offline i zapisz go tutaj.",
    serialNumber: "Numer seryjny",
    subject: "Podmiot",
    validFrom: "Ważny od",
    validUntil: "Ważny do",
    expired: "Ten certyfikat wygasł. Dopóki nie zapiszesz innego, prawdziwe faktury nie są wystawiane offline.",
    pem: "Certyfikat typu Offline (PEM)",
    privateKey: "Klucz prywatny tego certyfikatu (PEM)",
    add: "Zapisz certyfikat",
    store: "Zapisz certyfikat",
    stored: "Certyfikat zapisany",
    replace: "Zastąp certyfikat",
    replaceMeaning: "Faktury zachowują kody, z którymi zostały wystawione.",
    remove: "Usuń certyfikat",
    removeTitle: "Usunąć certyfikat?",
    removeMeaning: "Bez niego prawdziwych faktur nie można wystawiać offline. Już wystawione zachowują swoje kody.",
    removed: "Certyfikat usunięty"
  },

  overview: {
    well: "Wszystko dociera do celu.",
    notWell: "Coś wymaga Twojej uwagi.",
    accepted: "Przyjęte, 24 godziny",
    inProgress: "W toku",
    attention: "Wymaga uwagi, 24 godziny",
    rejectedInvoices: (count) => plural(count, "faktura odrzucona", "faktury odrzucone", "faktur odrzuconych"),
    failedInvoices: (count) => plural(count, "faktura nieudana", "faktury nieudane", "faktur nieudanych"),
    failedDeliveries: (count) => plural(count, "webhook nieudany", "webhooki nieudane", "webhooków nieudanych"),
    nothing: "nic",
    median: "Czas do UPO, mediana",
    medianNote: "na podstawie maks. 100 ostatnich UPO",
    endpoints: "Adresy webhooków",
    failed: "Nieudane, 24 h",
    changed: "Zmieniono",
    rotates: "nowy sekret",
    troubles: "Ostatnie niepowodzenia",
    noTroubles: "Nie ma ponawianych ani nieudanych webhooków.",
    limitedSince:
      "Webhooki czekają, bo organizacja osiągnęła limit równoczesnych żądań. Najstarszy miał zostać wysłany",
    limitedRemedy: "Odpowiadaj na webhooki szybciej: zapisz zdarzenie, odpowiedz, a potem je przetwarzaj.",
    keys: (test, live) =>
      `${plural(test, "klucz testowy", "klucze testowe", "kluczy testowych")} i ${plural(live, "klucz produkcyjny", "klucze produkcyjne", "kluczy produkcyjnych")}; najnowszy utworzono`,
    openKeys: "Klucze API",
    mostRows: (count) => `Najnowsze wiersze: ${count}. Wszystkie są na stronie danego adresu.`
  },
  checklist: {
    title: "Pierwsze kroki",
    count: (done, all) => `${done} z ${all}`,
    done: "Gotowe:",
    complete: "Pierwszy webhook został dostarczony",
    account: "Konto",
    organization: "Organizacja",
    key: "Klucz testowy",
    keyTitle: "Utwórz klucz testowy",
    keyMeaning: "Klucz testowy wysyła faktury do sandboxa. Nic nie trafia do KSeF.",
    endpoint: "Adres webhooków",
    endpointTitle: "Dodaj adres, pod którym odbierasz webhooki",
    endpointMeaning: "Każdy etap faktury staje się zdarzeniem, które Govoice wysyła z podpisem na Twój adres.",
    invoice: "Pierwsza faktura",
    invoiceTitle: "Wyślij pierwszą fakturę",
    invoiceMeaning: "Z tej strony, z wiersza poleceń albo z własnego kodu.",
    invoiceSnippet: "Wyślij fakturę",
    webhook: "Pierwszy webhook dostarczony",
    webhookTitle: "Odbierz jej pierwszy webhook",
    webhookLater: "Pierwsze zdarzenie zostanie wysłane zaraz po wysłaniu faktury.",
    webhookNone: "Faktura została wysłana, zanim dodano adres. Wyślij kolejną:",
    webhookWaiting: "Tu pojawi się najnowszy webhook, bez odświeżania strony:",
    verifiedMeaning:
      "Dostarczony znaczy, że odpowiedź miała status 2xx. Program, który sprawdza podpis, tak jak ten w przykładzie, odpowiada tak tylko na prawidłowy podpis.",
    after: (time) => `po ${time}`
  },
  submit: {
    title: "Wyślij fakturę testową",
    meaning:
      "Wysyła do sandboxa mały dokument. Na to jedno żądanie strona tworzy klucz testowy, a potem go unieważnia.",
    keyName: "Konsola, jedno żądanie",
    scenario: "Wynik",
    scenarioNames: {
      accepted: "Przyjęta",
      rejected: "Odrzucona",
      temporary_failure: "Przejściowy błąd",
      delayed: "Opóźniona"
    },
    scenarios: {
      accepted: "Przyjęta po dwóch krokach, potem UPO.",
      rejected: "Odrzucona po dwóch krokach.",
      temporary_failure: "Trzy przejściowe błędy, potem ostateczny.",
      delayed: "Jak przyjęta, ale decyzja zajmuje dziesięć kroków."
    },
    button: "Wyślij fakturę testową",
    done: "Wysłano.",
    open: "Otwórz fakturę"
  }
}
