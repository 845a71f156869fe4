/**
 * Documents to send: valid ones, and the same with something changed.
 */

/** The values in which a document differs from the usual one. */
export interface Changes {
  readonly seller?: string
  readonly buyer?: string
  readonly number?: string
  readonly issueDate?: string
  readonly kind?: string
  readonly attachment?: boolean
  /** Text in the line of the invoice, to make it long. */
  readonly filler?: string
}

const attachment = `<Zalacznik><BlokDanych><MetaDane><ZKlucz>k</ZKlucz><ZWartosc>w</ZWartosc></MetaDane><Tekst><Akapit>a</Akapit></Tekst></BlokDanych></Zalacznik>`

/** A valid FA(3). */
export const fa3 = ({
  attachment: hasAttachment = false,
  buyer = "5260250274",
  filler = "Usługa testowa",
  issueDate = "2026-11-20",
  kind = "VAT",
  number = "FV/1",
  seller = "5265877635"
}: Changes = {}): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<Faktura xmlns="http://crd.gov.pl/wzor/2025/06/25/13775/"><Naglowek><KodFormularza kodSystemowy="FA (3)" wersjaSchemy="1-0E">FA</KodFormularza><WariantFormularza>3</WariantFormularza><DataWytworzeniaFa>2026-11-20T08:00:00Z</DataWytworzeniaFa></Naglowek><Podmiot1><DaneIdentyfikacyjne><NIP>${seller}</NIP><Nazwa>Sprzedawca</Nazwa></DaneIdentyfikacyjne><Adres><KodKraju>PL</KodKraju><AdresL1>ul. Testowa 1</AdresL1></Adres></Podmiot1><Podmiot2><DaneIdentyfikacyjne><NIP>${buyer}</NIP><Nazwa>Nabywca</Nazwa></DaneIdentyfikacyjne><JST>2</JST><GV>2</GV></Podmiot2><Fa><KodWaluty>PLN</KodWaluty><P_1>${issueDate}</P_1><P_2>${number}</P_2><P_13_1>100.00</P_13_1><P_14_1>23.00</P_14_1><P_15>123.00</P_15><Adnotacje><P_16>2</P_16><P_17>2</P_17><P_18>2</P_18><P_18A>2</P_18A><Zwolnienie><P_19N>1</P_19N></Zwolnienie><NoweSrodkiTransportu><P_22N>1</P_22N></NoweSrodkiTransportu><P_23>2</P_23><PMarzy><P_PMarzyN>1</P_PMarzyN></PMarzy></Adnotacje><RodzajFaktury>${kind}</RodzajFaktury><FaWiersz><NrWierszaFa>1</NrWierszaFa><P_7>${filler}</P_7><P_8A>szt.</P_8A><P_8B>1</P_8B><P_9A>100.00</P_9A><P_11>100.00</P_11><P_12>23</P_12></FaWiersz></Fa>${hasAttachment ? attachment : ""}</Faktura>
`

/** A valid FA_RR(1). The buyer issues it. */
export const faRr = ({
  buyer = "5265877635",
  issueDate = "2026-11-20",
  number = "RR/1",
  seller = "5260250274"
}: Changes = {}): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<Faktura xmlns="http://crd.gov.pl/wzor/2026/03/06/14189/"><Naglowek><KodFormularza kodSystemowy="FA_RR (1)" wersjaSchemy="1-1E">FA_RR</KodFormularza><WariantFormularza>1</WariantFormularza><DataWytworzeniaFa>2026-11-20T08:00:00Z</DataWytworzeniaFa></Naglowek><Podmiot1><DaneIdentyfikacyjne><NIP>${seller}</NIP><Nazwa>Rolnik</Nazwa></DaneIdentyfikacyjne><Adres><KodKraju>PL</KodKraju><AdresL1>Wieś 1</AdresL1></Adres></Podmiot1><Podmiot2><DaneIdentyfikacyjne><NIP>${buyer}</NIP><Nazwa>Nabywca</Nazwa></DaneIdentyfikacyjne><Adres><KodKraju>PL</KodKraju><AdresL1>ul. Testowa 1</AdresL1></Adres></Podmiot2><FakturaRR><KodWaluty>PLN</KodWaluty><P_4B>${issueDate}</P_4B><P_4C>${number}</P_4C><P_11_1>100.00</P_11_1><P_11_2>7.00</P_11_2><P_12_1>107.00</P_12_1><P_12_2>sto siedem złotych</P_12_2><RodzajFaktury>VAT_RR</RodzajFaktury><FakturaRRWiersz><NrWierszaFa>1</NrWierszaFa><P_5>Jabłka</P_5><P_6A>kg</P_6A><P_6B>100</P_6B><P_6C>I</P_6C><P_7>1.00</P_7><P_8>100.00</P_8><P_9>7</P_9><P_10>7.00</P_10><P_11>107.00</P_11></FakturaRRWiersz></FakturaRR></Faktura>
`
