/**
 * The texts about the document of an invoice, in both languages: they load with the code that reads it. The names of its elements are
 * those of `@govoice/ksef/reading`.
 */
export const documentTexts = {
  en: {
    title: "What the document says",
    tabs: "Views of the document",
    document: "Document",
    xml: "XML",
    unreadable: "The document is of no form that can be shown. Its XML is in the second tab.",
    ends: (name: string) => `Details of ${name}`,
    showRows: (count: string) => `Show all ${count} rows`,
    isLong: "This is the beginning of a long document.",
    showAll: "Show the whole document",
    marks: (count: number) => (count === 1 ? "1 place is marked" : `${count} places are marked`),
    markAt: (line: number, column?: number) => `Line ${line}${column === undefined ? "" : `, column ${column}`}`,
    fault: "Fault",
    warning: "Warning",
    part: (first: string, last: string, all: string) => `Lines ${first} to ${last} of ${all}`,
    before: "Lines before",
    after: "Lines after",
    pages: "Parts of the XML",
    source: "XML of the document",
    sum: "Sum"
  },
  pl: {
    title: "Treść dokumentu",
    tabs: "Widoki dokumentu",
    document: "Dokument",
    xml: "XML",
    unreadable: "Tego wzoru dokumentu nie można pokazać. Jego XML jest w drugiej karcie.",
    ends: (name: string) => `Szczegóły: ${name}`,
    showRows: (count: string) => `Pokaż wszystkie wiersze: ${count}`,
    isLong: "To początek długiego dokumentu.",
    showAll: "Pokaż cały dokument",
    marks: (count: number) => `Zaznaczone miejsca: ${count}`,
    markAt: (line: number, column?: number) => `Wiersz ${line}${column === undefined ? "" : `, kolumna ${column}`}`,
    fault: "Błąd",
    warning: "Ostrzeżenie",
    part: (first: string, last: string, all: string) => `Wiersze od ${first} do ${last} z ${all}`,
    before: "Poprzednie wiersze",
    after: "Następne wiersze",
    pages: "Części XML",
    source: "XML dokumentu",
    sum: "Suma"
  }
} as const
