import {
  deleteOfflineCertificate,
  type OfflineCertificate as Certificate,
  setOfflineCertificate
} from "@govoice/client"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { connection } from "../../api/connection.ts"
import { offlineCertificateQuery } from "../../api/queries.ts"
import { texts } from "../../text/texts.ts"
import { Button } from "../../ui/Button.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { Notice, ProblemNotice } from "../../ui/Notice.tsx"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { Facts, Panel } from "../../ui/Panel.tsx"
import { Skeleton } from "../../ui/Skeleton.tsx"
import { toast } from "../../ui/Toasts.tsx"
import { TypedConfirmation } from "../../ui/TypedConfirmation.tsx"
import { CertificateFields, certificateOf } from "./CertificateFields.tsx"
import { useCertificateForm } from "./useCertificateForm.ts"

const Stored = ({ certificate }: { readonly certificate: Certificate }) => (
  <>
    {certificate.state === "expired" && (
      <Notice tone="bad">
        <p>{texts.offlineCertificate.expired}</p>
      </Notice>
    )}
    <Facts
      entries={[
        [texts.offlineCertificate.serialNumber, certificate.serialNumber && <code>{certificate.serialNumber}</code>],
        [texts.offlineCertificate.subject, certificate.subject],
        [texts.credential.environment, certificate.environment && <code>{certificate.environment}</code>],
        [texts.offlineCertificate.validFrom, certificate.validFrom && <Instant at={certificate.validFrom} whole />],
        [texts.offlineCertificate.validUntil, certificate.validUntil && <Instant at={certificate.validUntil} whole />],
        [texts.credential.storedAt, certificate.updatedAt && <Instant at={certificate.updatedAt} whole />]
      ]}
    />
  </>
)

// The key is in the field of this form and in the request alone.
const Form = ({
  isReplacing,
  onDone,
  org
}: {
  readonly org: string
  readonly isReplacing: boolean
  readonly onDone: () => void
}) => {
  const { count, fields, form, isPending, problem, send } = useCertificateForm({
    store: async (given, picked) => setOfflineCertificate(connection, org, await certificateOf(given, picked)),
    stored: texts.offlineCertificate.stored,
    onDone
  })
  return (
    <form
      ref={form}
      className="stack"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault()
        count()
        send(new FormData(event.currentTarget))
      }}
    >
      {isReplacing && <p className="muted">{texts.offlineCertificate.replaceMeaning}</p>}
      {problem !== null && <ProblemNotice error={problem} />}
      <CertificateFields
        certificate={texts.offlineCertificate.pem}
        privateKey={texts.offlineCertificate.privateKey}
        {...fields}
      />
      <div className="line">
        <Button type="submit" kind="primary" busy={isPending}>
          {texts.offlineCertificate.store}
        </Button>
        <Button onClick={onDone}>{texts.cancel}</Button>
      </div>
    </form>
  )
}

const Removal = ({ onClose }: { readonly onClose: () => void }) => {
  const { id: org, name } = useCurrentOrganization()
  const queryClient = useQueryClient()
  const { error, isPending, mutate } = useMutation({
    mutationFn: () => deleteOfflineCertificate(connection, org),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ["organizations"] })
      toast(texts.offlineCertificate.removed)
      onClose()
    }
  })
  return (
    <TypedConfirmation
      title={texts.offlineCertificate.removeTitle}
      action={texts.offlineCertificate.remove}
      isBusy={isPending}
      error={error}
      typed={{ text: name.trim(), label: texts.credential.typeName(name) }}
      onCancel={onClose}
      onConfirm={() => mutate()}
    >
      <p>{texts.offlineCertificate.removeMeaning}</p>
    </TypedConfirmation>
  )
}

/** The certificate with which this organization issues invoices offline. */
export const OfflineCertificate = () => {
  const { id: org } = useCurrentOrganization()
  const certificate = useQuery(offlineCertificateQuery(org))
  const [isStoring, setStoring] = useState(false)
  const [isRemoving, setRemoving] = useState(false)
  return (
    <Panel title={texts.offlineCertificate.title}>
      <Loaded query={certificate} skeleton={<Skeleton lines={4} />}>
        {(found) => (
          <div className="stack">
            {found.present ? <Stored certificate={found} /> : <p className="muted">{texts.offlineCertificate.none}</p>}
            {isStoring ? (
              <Form org={org} isReplacing={found.present} onDone={() => setStoring(false)} />
            ) : (
              <div className="line">
                <Button onClick={() => setStoring(true)}>
                  {found.present ? texts.offlineCertificate.replace : texts.offlineCertificate.add}
                </Button>
                {found.present && <Button onClick={() => setRemoving(true)}>{texts.offlineCertificate.remove}</Button>}
              </div>
            )}
            {isRemoving && <Removal onClose={() => setRemoving(false)} />}
          </div>
        )}
      </Loaded>
    </Panel>
  )
}
