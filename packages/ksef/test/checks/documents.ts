/**
 * Valid documents of each form, with an element on each line.
 */

const indented = (xml: string): string => {
  let depth = 0
  const lines = xml
    .trim()
    .replaceAll(/>\s+</g, "><")
    .replaceAll(/(<[^/!?][^>]*>)(?=<[^/])/g, "$1\n")
    .replaceAll(/(<\/[^>]+>)(?=<)/g, "$1\n")
    .replaceAll("?><", "?>\n<")
    .split("\n")
  return `${lines
    .map((line) => {
      if (line.startsWith("</")) depth--
      const indentation = "  ".repeat(depth)
      if (/^<[^/?][^>]*[^/]>$/.test(line)) depth++
      return indentation + line
    })
    .join("\n")}\n`
}

const parties = (second: string): string => `
  <Podmiot1>
    <DaneIdentyfikacyjne><NIP>5265877635</NIP><Nazwa>Sprzedawca Testowy sp. z o.o.</Nazwa></DaneIdentyfikacyjne>
    <Adres><KodKraju>PL</KodKraju><AdresL1>ul. Testowa 1</AdresL1><AdresL2>00-001 Warszawa</AdresL2></Adres>
    <DaneKontaktowe><Email>faktury@example.com</Email><Telefon>+48 600 000 000</Telefon></DaneKontaktowe>
  </Podmiot1>
  <Podmiot2>
    <DaneIdentyfikacyjne><NIP>5260250274</NIP><Nazwa>Nabywca Testowy</Nazwa></DaneIdentyfikacyjne>
    <Adres><KodKraju>PL</KodKraju><AdresL1>ul. Inna 2</AdresL1></Adres>
    ${second}
  </Podmiot2>`

const annotations = `
  <Adnotacje>
    <P_16>2</P_16><P_17>2</P_17><P_18>2</P_18><P_18A>2</P_18A>
    <Zwolnienie><P_19N>1</P_19N></Zwolnienie>
    <NoweSrodkiTransportu><P_22N>1</P_22N></NoweSrodkiTransportu>
    <P_23>2</P_23>
    <PMarzy><P_PMarzyN>1</P_PMarzyN></PMarzy>
  </Adnotacje>`

const row = (number: number): string => `
  <FaWiersz>
    <NrWierszaFa>${number}</NrWierszaFa><P_7>Usługa testowa</P_7><P_8A>szt.</P_8A><P_8B>1</P_8B>
    <P_9A>100.00</P_9A><P_11>100.00</P_11><P_12>23</P_12>
  </FaWiersz>`

const fa3Of = (content: string, after = ""): string =>
  indented(`<?xml version="1.0" encoding="UTF-8"?>
<Faktura xmlns="http://crd.gov.pl/wzor/2025/06/25/13775/">
  <Naglowek>
    <KodFormularza kodSystemowy="FA (3)" wersjaSchemy="1-0E">FA</KodFormularza>
    <WariantFormularza>3</WariantFormularza>
    <DataWytworzeniaFa>2026-11-20T08:00:00Z</DataWytworzeniaFa>
    <SystemInfo>Example</SystemInfo>
  </Naglowek>
  ${parties("<JST>2</JST><GV>2</GV>")}
  <Fa>${content}</Fa>
  ${after}
</Faktura>`)

const head = `<KodWaluty>PLN</KodWaluty><P_1>2026-11-20</P_1><P_1M>Warszawa</P_1M><P_2>FV/2026/11/0001</P_2><P_6>2026-11-20</P_6>
  <P_13_1>200.00</P_13_1><P_14_1>46.00</P_14_1><P_15>246.00</P_15>`

const payment = `<Platnosc>
  <TerminPlatnosci><Termin>2026-12-04</Termin></TerminPlatnosci>
  <FormaPlatnosci>6</FormaPlatnosci>
  <RachunekBankowy><NrRB>73111111111111111111111111</NrRB><SWIFT>PKOPPLPW</SWIFT><NazwaBanku>Bank</NazwaBanku></RachunekBankowy>
</Platnosc>`

/** An invoice with two lines and a payment. */
export const fa3 = fa3Of(`${head}${annotations}<RodzajFaktury>VAT</RodzajFaktury>${row(1)}${row(2)}${payment}`)

/** A correction. */
export const fa3Correction = fa3Of(
  `${head}${annotations}<RodzajFaktury>KOR</RodzajFaktury><PrzyczynaKorekty>Zwrot</PrzyczynaKorekty>
  <DaneFaKorygowanej><DataWystFaKorygowanej>2026-11-01</DataWystFaKorygowanej><NrFaKorygowanej>FV/2026/11/0000</NrFaKorygowanej><NrKSeFN>1</NrKSeFN></DaneFaKorygowanej>${row(1)}`
)

/** An invoice with an attachment. */
export const fa3Attachment = fa3Of(
  `${head}${annotations}<RodzajFaktury>VAT</RodzajFaktury>${row(1)}`,
  `<Zalacznik><BlokDanych><MetaDane><ZKlucz>Licznik</ZKlucz><ZWartosc>1</ZWartosc></MetaDane><Tekst><Akapit>Odczyt</Akapit></Tekst></BlokDanych></Zalacznik>`
)

/** The same invoice with a prefix on every element. */
export const fa3Prefixed = fa3.replaceAll(/<(\/?)(?=[A-Z])/g, "<$1fa:").replace("xmlns=", "xmlns:fa=")

/** An invoice of a flat-rate farmer. */
export const faRr = indented(`<?xml version="1.0" encoding="UTF-8"?>
<Faktura xmlns="http://crd.gov.pl/wzor/2026/03/06/14189/">
  <Naglowek>
    <KodFormularza kodSystemowy="FA_RR (1)" wersjaSchemy="1-1E">FA_RR</KodFormularza>
    <WariantFormularza>1</WariantFormularza>
    <DataWytworzeniaFa>2026-11-20T08:00:00Z</DataWytworzeniaFa>
  </Naglowek>
  <Podmiot1>
    <DaneIdentyfikacyjne><NIP>5260250274</NIP><Nazwa>Rolnik</Nazwa></DaneIdentyfikacyjne>
    <Adres><KodKraju>PL</KodKraju><AdresL1>Wieś 1</AdresL1></Adres>
  </Podmiot1>
  <Podmiot2>
    <DaneIdentyfikacyjne><NIP>5265877635</NIP><Nazwa>Nabywca</Nazwa></DaneIdentyfikacyjne>
    <Adres><KodKraju>PL</KodKraju><AdresL1>ul. Testowa 1</AdresL1></Adres>
  </Podmiot2>
  <FakturaRR>
    <KodWaluty>PLN</KodWaluty><P_4B>2026-11-20</P_4B><P_4C>RR/1</P_4C>
    <P_11_1>100.00</P_11_1><P_11_2>7.00</P_11_2><P_12_1>107.00</P_12_1><P_12_2>sto siedem złotych</P_12_2>
    <RodzajFaktury>VAT_RR</RodzajFaktury>
    <FakturaRRWiersz>
      <NrWierszaFa>1</NrWierszaFa><P_5>Jabłka</P_5><P_6A>kg</P_6A><P_6B>100</P_6B><P_6C>I</P_6C><P_7>1.00</P_7>
      <P_8>100.00</P_8><P_9>7</P_9><P_10>7.00</P_10><P_11>107.00</P_11>
    </FakturaRRWiersz>
  </FakturaRR>
</Faktura>`)

/** All of them, by name. */
export const documents: Readonly<Record<string, string>> = { fa3, fa3Correction, fa3Attachment, fa3Prefixed, faRr }
