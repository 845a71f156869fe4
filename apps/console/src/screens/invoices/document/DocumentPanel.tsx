import { downloadOrganizationDocument, type Invoice } from "@govoice/client"
import { InvoiceReading } from "@govoice/ksef/reading"
import { queryOptions, useQuery } from "@tanstack/react-query"
import { useMemo } from "react"
import { connection } from "../../../api/connection.ts"
import { Loaded } from "../../../ui/Loaded.tsx"
import { Panel } from "../../../ui/Panel.tsx"
import { Skeleton } from "../../../ui/Skeleton.tsx"
import { Tabs } from "../../../ui/Tabs.tsx"
import { paths } from "../../../url/paths.ts"
import { type Mark, marksOfMessage } from "./marks.ts"
import { Reading } from "./Reading.tsx"
import { words } from "./words.tsx"
import { XmlSource } from "./XmlSource.tsx"

const documentQuery = (org: string, id: string) =>
  queryOptions({
    queryKey: ["organizations", org, "invoice", id, "document"],
    queryFn: async ({ signal }) => (await downloadOrganizationDocument(connection, org, id, { signal })).text(),
    // A document does not change.
    staleTime: Infinity
  })

// A warning without a place is about the whole document.
const marksOf = ({ failure, rejection, warnings }: Invoice): ReadonlyArray<Mark> => [
  ...marksOfMessage((rejection ?? failure)?.message ?? ""),
  ...warnings.flatMap(({ column, line, message }): ReadonlyArray<Mark> =>
    line === null || column === null ? [] : [{ line, column, message, tone: "warn" }]
  )
]

const Read = ({ xml }: { readonly xml: string }) => {
  const reading = useMemo(() => InvoiceReading.read(xml), [xml])
  return reading === undefined ? <p className="muted">{words.unreadable}</p> : <Reading reading={reading} />
}

/** The document of an invoice: as a person reads it, and as XML. */
const DocumentPanel = ({
  invoice,
  org,
  tab
}: {
  readonly org: string
  readonly invoice: Invoice
  readonly tab: string | undefined
}) => {
  const { id } = invoice
  const document = useQuery(documentQuery(org, id))
  const isXml = tab === "xml"
  return (
    <Panel title={words.title}>
      <Tabs
        label={words.tabs}
        tabs={[
          { to: paths.invoice(org, id), label: words.document, isCurrent: !isXml },
          { to: paths.invoiceXml(org, id), label: words.xml, isCurrent: isXml }
        ]}
      />
      <Loaded query={document} skeleton={<Skeleton lines={8} />}>
        {(xml) => (isXml ? <XmlSource xml={xml} marks={marksOf(invoice)} /> : <Read xml={xml} />)}
      </Loaded>
    </Panel>
  )
}

export default DocumentPanel
