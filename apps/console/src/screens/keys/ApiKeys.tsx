import { type ApiKey, revokeApiKey } from "@govoice/client"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { connection } from "../../api/connection.ts"
import { keysQuery } from "../../api/queries.ts"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { Screen } from "../../ui/Screen.tsx"
import { texts } from "../../text/texts.ts"
import { Button, ButtonLink } from "../../ui/Button.tsx"
import { useNow } from "../../ui/clock.ts"
import { EmptyState } from "../../ui/EmptyState.tsx"
import { focusSoon, heading } from "../../ui/focus.ts"
import { guides } from "../../ui/guides.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { Panel } from "../../ui/Panel.tsx"
import { Skeleton } from "../../ui/Skeleton.tsx"
import { ModeBadge } from "../../ui/StatusBadge.tsx"
import { type Column, Table } from "../../ui/Table.tsx"
import { toast } from "../../ui/Toasts.tsx"
import { TypedConfirmation } from "../../ui/TypedConfirmation.tsx"
import { paths } from "../../url/paths.ts"
import { SubmissionSnippet } from "../../ui/SubmissionSnippet.tsx"

const Revocation = ({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) => {
  const queryClient = useQueryClient()
  const { error, isPending, mutate } = useMutation({
    mutationFn: () => revokeApiKey(connection, apiKey.id),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: keysQuery(apiKey.organizationId).queryKey })
      toast(texts.apiKeys.revoked)
      onClose()
      // The row of the button that opened the dialog is going.
      focusSoon(heading)
    }
  })
  return (
    <TypedConfirmation
      title={texts.apiKeys.revokeTitle(apiKey.last4)}
      action={texts.apiKeys.revoke}
      isBusy={isPending}
      error={error}
      onCancel={onClose}
      onConfirm={() => mutate()}
      {...(apiKey.mode === "live" && { typed: { text: apiKey.last4, label: texts.apiKeys.typeLast4(apiKey.last4) } })}
    >
      <p>{texts.apiKeys.revokeMeaning}</p>
    </TypedConfirmation>
  )
}

const ApiKeys = () => {
  const { id: org } = useCurrentOrganization()
  const keys = useQuery(keysQuery(org))
  const now = useNow()
  const [revoking, setRevoking] = useState<ApiKey>()
  const isExpired = ({ expiresAt }: ApiKey) => expiresAt !== null && Date.parse(expiresAt) <= now
  const columns: ReadonlyArray<Column<ApiKey>> = [
    {
      head: texts.name,
      cell: (key) => <span className={isExpired(key) ? "muted" : "strong"}>{key.name ?? texts.apiKeys.unnamed}</span>
    },
    { head: texts.mode.title, cell: ({ mode }) => <ModeBadge mode={mode} /> },
    { head: texts.apiKeys.key, cell: ({ last4, mode }) => <code>{`sk_${mode}_…${last4}`}</code> },
    { head: texts.created, cell: ({ createdAt }) => <Instant at={createdAt} /> },
    {
      head: texts.apiKeys.expires,
      cell: (key) =>
        key.expiresAt === null ? (
          <span className="muted">{texts.never}</span>
        ) : (
          <span className={isExpired(key) ? "muted" : undefined}>
            {isExpired(key) && `${texts.apiKeys.expired} `}
            <Instant at={key.expiresAt} />
          </span>
        )
    },
    {
      head: texts.actions,
      cell: (key) => (
        <Button size="small" onClick={() => setRevoking(key)} aria-label={texts.apiKeys.revokeKey(key.last4)}>
          {texts.apiKeys.revoke}
        </Button>
      )
    }
  ]
  const create = (
    <ButtonLink to={paths.newKey(org)} kind="primary" icon="plus">
      {texts.apiKeys.create}
    </ButtonLink>
  )
  return (
    <Screen title={texts.nav.keys} actions={create}>
      <Panel title={texts.apiKeys.list} flush>
        <Loaded query={keys} skeleton={<Skeleton rows lines={4} />}>
          {(rows) => (
            <Table
              caption={texts.apiKeys.list}
              columns={columns}
              rows={rows}
              idOf={({ id }) => id}
              empty={
                <EmptyState sentence={texts.apiKeys.empty} snippet={<SubmissionSnippet />}>
                  {create}
                  {guides.sandbox}
                </EmptyState>
              }
            />
          )}
        </Loaded>
      </Panel>
      {revoking !== undefined && <Revocation apiKey={revoking} onClose={() => setRevoking(undefined)} />}
    </Screen>
  )
}

export default ApiKeys
