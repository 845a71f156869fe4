import { downloadOrganizationUpo, type Invoice as InvoiceRecord } from "@govoice/client"
import { useMutation, useQuery } from "@tanstack/react-query"
import { invoiceStatuses } from "../../generated/meanings.ts"
import { connection } from "../../api/connection.ts"
import { invoiceQuery } from "../../api/queries.ts"
import { LiveButton } from "../../ui/LiveButton.tsx"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { Screen } from "../../ui/Screen.tsx"
import { en } from "../../text/en.ts"
import { Button } from "../../ui/Button.tsx"
import { CopyButton } from "../../ui/CopyButton.tsx"
import { Id } from "../../ui/Id.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { Notice, ProblemNotice } from "../../ui/Notice.tsx"
import { Facts, Panel } from "../../ui/Panel.tsx"
import { Skeleton } from "../../ui/Skeleton.tsx"
import { ModeBadge, StatusBadge } from "../../ui/StatusBadge.tsx"
import { shorten } from "../../url/ids.ts"
import { paths } from "../../url/paths.ts"
import { DeliveriesOfInvoice } from "./DeliveriesOfInvoice.tsx"
import { LifeLine } from "./LifeLine.tsx"
import { Verification } from "./Verification.tsx"

/** Saves bytes as a file, through a link that exists for the time of the click. */
const save = (bytes: Uint8Array<ArrayBuffer>, name: string): void => {
  const url = URL.createObjectURL(new Blob([bytes], { type: "application/xml" }))
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

const DownloadUpo = ({ id, org }: { readonly org: string; readonly id: string }) => {
  const { error, isPending, mutate } = useMutation({
    mutationFn: async () => {
      const upo = await downloadOrganizationUpo(connection, org, id)
      save(await upo.bytes(), `upo-${id}.xml`)
    }
  })
  return (
    <>
      <Button icon="download" busy={isPending} onClick={() => mutate()}>
        {en.invoice.download}
      </Button>
      {error !== null && <ProblemNotice error={error} onRetry={() => mutate()} />}
    </>
  )
}

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
          [en.invoice.code, <code>{reason.code}</code>],
          [en.invoice.position, position !== undefined && <strong>{position}</strong>],
          [en.delivery.nextAttempt, nextAttemptAt && <Instant at={nextAttemptAt} />]
        ]}
      />
    </Notice>
  )
}

/** One invoice. */
const Invoice = ({ id }: { readonly id: string }) => {
  const { id: org } = useCurrentOrganization()
  const invoice = useQuery(invoiceQuery(org, id))
  const { data, dataUpdatedAt } = invoice
  return (
    <Screen
      title={data?.officialNumber ?? shorten(id)}
      parent={{ label: en.nav.invoices, to: paths.invoices(org) }}
      beside={
        data !== undefined && (
          <>
            <ModeBadge mode={data.mode} />
            <StatusBadge of="invoice" status={data.status} />
          </>
        )
      }
      actions={data?.upoAvailable === true && <DownloadUpo org={org} id={id} />}
      isLive={data?.mode === "live"}
    >
      <div className="stack">
        <Loaded query={invoice} skeleton={<Skeleton lines={8} />}>
          {(found) => (
            <>
              <Panel title={en.invoice.title} aside={<LiveButton updatedAt={dataUpdatedAt} />}>
                <LifeLine invoice={found} />
                <p className="muted">
                  {found.upoAvailable
                    ? en.invoice.upoMeaning
                    : (invoiceStatuses as Record<string, string>)[found.status]}
                </p>
                <Reason invoice={found} />
                <Facts
                  entries={[
                    [
                      en.invoice.officialNumber,
                      found.officialNumber && (
                        <span className="line">
                          <code>{found.officialNumber}</code>
                          <CopyButton text={found.officialNumber} label={en.invoice.copyNumber} />
                        </span>
                      )
                    ],
                    [en.invoice.scenario, found.scenario && <code>{found.scenario}</code>],
                    [en.invoice.attempts, found.attemptCount],
                    [en.created, <Instant at={found.createdAt} whole />],
                    [en.invoice.submittedAt, found.submittedAt && <Instant at={found.submittedAt} whole />],
                    [en.invoice.completedAt, found.completedAt && <Instant at={found.completedAt} whole />],
                    [en.id, <Id id={found.id} whole />],
                    ...Object.entries(found.metadata).map(([name, value]): [string, string] => [
                      en.invoice.metadataOf(name),
                      value
                    ])
                  ]}
                />
              </Panel>
              <DeliveriesOfInvoice org={org} invoice={id} />
              {found.mode === "live" && found.status === "accepted" && <Verification org={org} id={id} />}
            </>
          )}
        </Loaded>
      </div>
    </Screen>
  )
}

export default Invoice
