import {
  downloadOrganizationDocument,
  downloadOrganizationPdf,
  downloadOrganizationUpo,
  type Invoice as InvoiceRecord
} from "@govoice/client"
import { useQuery } from "@tanstack/react-query"
import { lazy, Suspense } from "react"
import { connection } from "../../api/connection.ts"
import { invoiceQuery } from "../../api/queries.ts"
import { Updated } from "../../ui/Updated.tsx"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { Screen } from "../../ui/Screen.tsx"
import { texts } from "../../text/texts.ts"
import { CopyButton } from "../../ui/CopyButton.tsx"
import { Id } from "../../ui/Id.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { Notice } from "../../ui/Notice.tsx"
import { Facts, Panel } from "../../ui/Panel.tsx"
import { Skeleton } from "../../ui/Skeleton.tsx"
import { meaningOf, ModeBadge, StatusBadge } from "../../ui/StatusBadge.tsx"
import { dayOf } from "../../ui/times.ts"
import { shorten } from "../../url/ids.ts"
import { paths } from "../../url/paths.ts"
import { DeliveriesOfInvoice } from "./DeliveriesOfInvoice.tsx"
import { Download } from "./Download.tsx"
import { LifeLine } from "./LifeLine.tsx"
import { totalOf } from "./total.ts"
import { Verification } from "./Verification.tsx"

// The code that reads documents is larger than this screen.
const DocumentPanel = lazy(() => import("./document/DocumentPanel.tsx"))

/** The position that a message of a rejection names. */
const positionOf = (message: string): string | undefined => /\bline \d+, column \d+/i.exec(message)?.[0]

const Reason = ({ invoice }: { readonly invoice: InvoiceRecord }) => {
  const { failure, nextAttemptAt, rejection } = invoice
  const reason = rejection ?? failure
  if (reason === null) return null
  const position = positionOf(reason.message)
  return (
    <Notice tone={rejection !== null || invoice.status === "failed" ? "bad" : "warn"}>
      <p>{reason.message}</p>
      <Facts
        entries={[
          [texts.invoice.code, <code>{reason.code}</code>],
          [texts.invoice.position, position !== undefined && <strong>{position}</strong>],
          [texts.delivery.nextAttempt, nextAttemptAt && <Instant at={nextAttemptAt} />]
        ]}
      />
    </Notice>
  )
}

// Those of the national system are about no place in the document.
const placeOf = ({ column, line }: InvoiceRecord["warnings"][number]): string =>
  line === null ? "" : texts.invoice.positionOf(line, column ?? 1)

const Warnings = ({ warnings }: Pick<InvoiceRecord, "warnings">) =>
  warnings.length === 0 ? null : (
    <Notice tone="warn">
      <p>{texts.invoice.warningsMeaning}</p>
      <ul>
        {warnings.map((warning, index) => (
          // Two can be alike.
          <li key={index}>
            {warning.message} {placeOf(warning)} <code>{warning.code}</code>
          </li>
        ))}
      </ul>
    </Notice>
  )

const partyOf = (party: NonNullable<InvoiceRecord["document"]>["buyer"]): string | null =>
  party && [party.name, party.taxId].filter(Boolean).join(", ")

// What is printed on the invoice.
const documentFacts = ({ document }: InvoiceRecord): ReadonlyArray<[string, string | null]> =>
  document === null
    ? []
    : [
        [texts.invoice.sellersNumber, document.number],
        [texts.invoice.issueDate, document.issueDate && dayOf(document.issueDate)],
        [texts.invoice.seller, partyOf(document.seller)],
        [texts.invoice.buyer, partyOf(document.buyer)],
        [texts.invoice.total, totalOf(document)],
        [texts.invoice.form, [document.form, document.kind].filter(Boolean).join(", ")]
      ]

// `failure` is set once it waits for longer than a minute. The last day is the next working day, so that there is no time to lose.
const Deadline = ({ invoice: { failure, sendBy, status, submittedAt } }: { readonly invoice: InvoiceRecord }) =>
  sendBy !== null && failure !== null && submittedAt === null && status !== "failed" ? (
    <Notice tone="warn">
      <p>{texts.invoice.sendByNear(sendBy)}</p>
    </Notice>
  ) : null

const nameOfMode = (mode: string): string => (mode === "offline" ? texts.invoice.offline : texts.invoice.online)

// How it was issued, and how KSeF took it.
const modeFacts = (invoice: InvoiceRecord): ReadonlyArray<[string, string | null]> => [
  [texts.invoice.issued, invoice.invoicingMode === "offline" ? texts.invoice.offline : null],
  [texts.invoice.officialMode, invoice.officialMode && nameOfMode(invoice.officialMode)],
  [texts.invoice.sendBy, invoice.sendBy]
]

// The forms of which a PDF is made.
const isReadable = ({ document }: InvoiceRecord): boolean =>
  document !== null && ["FA (2)", "FA (3)", "FA_RR (1)"].includes(document.form)

/** One invoice. */
const Invoice = ({ id, tab }: { readonly id: string; readonly tab: string | undefined }) => {
  const { id: org } = useCurrentOrganization()
  const invoice = useQuery(invoiceQuery(org, id))
  const { data, dataUpdatedAt } = invoice
  return (
    <Screen
      title={data?.document?.number ?? data?.officialNumber ?? shorten(id)}
      parent={{ label: texts.nav.invoices, to: paths.invoices(org) }}
      beside={
        data !== undefined && (
          <>
            <ModeBadge mode={data.mode} />
            <StatusBadge of="invoice" status={data.status} mode={data.mode} />
          </>
        )
      }
      actions={
        data !== undefined && (
          <>
            {data.upoAvailable && (
              <Download
                label={texts.invoice.download}
                name={`upo-${id}.xml`}
                read={() => downloadOrganizationUpo(connection, org, id)}
              />
            )}
            {isReadable(data) && (
              <Download
                label={texts.invoice.downloadPdf}
                name={`invoice-${id}.pdf`}
                read={() => downloadOrganizationPdf(connection, org, id)}
              />
            )}
            <Download
              label={texts.invoice.downloadDocument}
              name={`invoice-${id}.xml`}
              read={() => downloadOrganizationDocument(connection, org, id)}
            />
          </>
        )
      }
      isLive={data?.mode === "live"}
    >
      <div className="stack">
        <Loaded query={invoice} skeleton={<Skeleton lines={8} />}>
          {(found) => (
            <>
              <Panel title={texts.invoice.title} aside={<Updated updatedAt={dataUpdatedAt} />}>
                <LifeLine invoice={found} />
                <p className="muted">
                  {found.upoAvailable
                    ? texts.invoice.upoMeaning(found.mode)
                    : meaningOf("invoice", found.status, found.mode)}
                </p>
                <Reason invoice={found} />
                <Deadline invoice={found} />
                <Warnings warnings={found.warnings} />
                <Facts
                  entries={[
                    [
                      texts.invoice.officialNumber,
                      found.officialNumber && (
                        <span className="line">
                          <code>{found.officialNumber}</code>
                          <CopyButton text={found.officialNumber} label={texts.invoice.copyNumber} />
                        </span>
                      )
                    ],
                    ...documentFacts(found),
                    ...modeFacts(found),
                    [texts.invoice.corrects, found.corrects && <Id id={found.corrects} />],
                    [texts.invoice.scenario, found.scenario && <code>{found.scenario}</code>],
                    [texts.invoice.attempts, found.attemptCount],
                    [texts.created, <Instant at={found.createdAt} whole />],
                    [texts.invoice.submittedAt, found.submittedAt && <Instant at={found.submittedAt} whole />],
                    [texts.invoice.completedAt, found.completedAt && <Instant at={found.completedAt} whole />],
                    [texts.id, <Id id={found.id} whole />],
                    ...Object.entries(found.metadata).map(([name, value]): [string, string] => [
                      texts.invoice.metadataOf(name),
                      value
                    ])
                  ]}
                />
              </Panel>
              <Suspense fallback={<Skeleton lines={8} />}>
                <DocumentPanel org={org} invoice={found} tab={tab} />
              </Suspense>
              <DeliveriesOfInvoice org={org} invoice={id} />
              {found.verification !== null && <Verification org={org} id={id} {...found.verification} />}
            </>
          )}
        </Loaded>
      </div>
    </Screen>
  )
}

export default Invoice
