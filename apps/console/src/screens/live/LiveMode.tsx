import { deleteGatewayCredential, type GatewayCredential } from "@govoice/client"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Suspense, useState } from "react"
import { connection } from "../../api/connection.ts"
import { configQuery, credentialQuery, liveStatusQuery, overviewQuery } from "../../api/queries.ts"
import { Updated } from "../../ui/Updated.tsx"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { Screen } from "../../ui/Screen.tsx"
import { texts } from "../../text/texts.ts"
import { Button } from "../../ui/Button.tsx"
import { Consequence, DangerZone } from "../../ui/DangerZone.tsx"
import { guides } from "../../ui/guides.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { Notice } from "../../ui/Notice.tsx"
import { OwnerNotices } from "../notices/lazyNotices.ts"
import { Facts, Panel } from "../../ui/Panel.tsx"
import { Skeleton } from "../../ui/Skeleton.tsx"
import { Badge } from "../../ui/StatusBadge.tsx"
import { toast } from "../../ui/Toasts.tsx"
import { TypedConfirmation } from "../../ui/TypedConfirmation.tsx"
import { CredentialForm } from "./CredentialForm.tsx"
import { OfflineCertificate } from "./OfflineCertificate.tsx"
import { Progress } from "./Progress.tsx"

const StateBadge = ({ state }: Pick<GatewayCredential, "state">) =>
  state === "accepted" ? (
    <Badge icon="check" tone="good" text={texts.credential.states.accepted} />
  ) : state === "refused" ? (
    <Badge icon="cross" tone="bad" text={texts.credential.states.refused} />
  ) : (
    <Badge icon="dotted" tone="info" text={texts.credential.states.unchecked} />
  )

const contextName = (type: string): string =>
  (texts.credential.contexts as Readonly<Record<string, string>>)[type] ?? type

const kindOf = (type: string | null) =>
  type === "certificate" ? texts.credential.certificate : type === "ksef_token" ? texts.credential.token : type

/** Conditions of live mode, each with whether it is met. */
const Conditions = ({
  credential,
  environment,
  liveMode
}: {
  readonly credential: GatewayCredential
  /** The environment of the deployment, if it is known. */
  readonly environment: string | null | undefined
  readonly liveMode: boolean
}) => {
  const { present, state } = credential
  const seen: readonly [boolean, string] = [
    state === "accepted",
    state === "accepted"
      ? texts.live.credentialAccepted
      : state === "refused"
        ? texts.live.credentialRefused
        : texts.live.credentialUnchecked
  ]
  const conditions: ReadonlyArray<readonly [isMet: boolean, text: string]> = [
    [liveMode, liveMode ? texts.live.deploymentOn : texts.live.deploymentOff],
    [present, present ? texts.live.credentialStored : texts.live.credentialMissing],
    ...(present ? [seen] : [])
  ]
  return (
    <>
      <ul className="stack-tight">
        {conditions.map(([isMet, text]) => (
          <li key={text} className="point small">
            <Icon name={isMet ? "check" : "dotted"} label={isMet ? texts.live.met : texts.live.open} />
            <span className={isMet ? undefined : "muted"}>{text}</span>
          </li>
        ))}
      </ul>
      {environment && (
        <p className="small">
          {texts.live.environment} <code>{environment}</code>
        </p>
      )}
    </>
  )
}

const Stored = ({ credential }: { readonly credential: GatewayCredential }) => (
  <>
    {credential.refusal !== null && (
      <Notice tone="bad">
        <p>{credential.refusal.message}</p>
        <p className="muted">
          {texts.credential.refusalCode} <code>{credential.refusal.code}</code>
        </p>
      </Notice>
    )}
    <Facts
      entries={[
        [texts.credential.state, <StateBadge state={credential.state} />],
        [texts.credential.kind, kindOf(credential.type)],
        [
          texts.credential.context,
          credential.context && (
            <>
              {contextName(credential.context.type)} <code>{credential.context.value}</code>
            </>
          )
        ],
        [texts.credential.environment, credential.environment && <code>{credential.environment}</code>],
        [texts.credential.expires, credential.expiresAt && <Instant at={credential.expiresAt} whole />],
        [texts.credential.checked, credential.checkedAt && <Instant at={credential.checkedAt} />],
        [texts.credential.storedAt, credential.updatedAt && <Instant at={credential.updatedAt} whole />]
      ]}
    />
  </>
)

const Removal = ({ onClose }: { readonly onClose: () => void }) => {
  const { id: org, name } = useCurrentOrganization()
  const queryClient = useQueryClient()
  const { error, isPending, mutate } = useMutation({
    mutationFn: () => deleteGatewayCredential(connection, org),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ["organizations"] })
      toast(texts.credential.removed)
      onClose()
    }
  })
  return (
    <TypedConfirmation
      title={texts.credential.removeTitle}
      action={texts.credential.remove}
      isBusy={isPending}
      error={error}
      typed={{ text: name.trim(), label: texts.credential.typeName(name) }}
      onCancel={onClose}
      onConfirm={() => mutate()}
    >
      <p>{texts.credential.removeMeaning}</p>
    </TypedConfirmation>
  )
}

/** Whether this organization can submit to the national system, and what is missing. */
const LiveMode = () => {
  const { id: org } = useCurrentOrganization()
  const config = useQuery(configQuery)
  const credential = useQuery(credentialQuery(org))
  const status = useQuery(liveStatusQuery(org))
  const overview = useQuery(overviewQuery(org))
  const notices = (overview.data?.notices ?? []).filter(({ endpointId }) => endpointId === null)
  const [isReplacing, setReplacing] = useState(false)
  const [isRemoving, setRemoving] = useState(false)
  return (
    <Screen title={texts.nav.live} isLive actions={<Updated updatedAt={credential.dataUpdatedAt} />}>
      <Loaded query={credential} skeleton={<Skeleton lines={8} />}>
        {(found) => (
          <div className="stack">
            {notices.length > 0 && (
              <Suspense fallback={null}>
                <OwnerNotices isHere org={org} notices={notices} />
              </Suspense>
            )}
            <Panel title={texts.live.conditions}>
              <Conditions
                credential={found}
                environment={status.data?.environment}
                liveMode={config.data?.liveMode === true}
              />
              <div>{guides.live}</div>
            </Panel>
            <Panel title={texts.credential.title}>
              {found.present ? <Stored credential={found} /> : <p className="muted">{texts.credential.none}</p>}
              {(!found.present || isReplacing) && (
                <CredentialForm org={org} onDone={() => setReplacing(false)} isReplacing={found.present} />
              )}
              {found.present && !isReplacing && (
                <div>
                  <Button onClick={() => setReplacing(true)}>{texts.credential.replace}</Button>
                </div>
              )}
            </Panel>
            <OfflineCertificate />
            <Loaded query={status}>{(live) => <Progress status={live} />}</Loaded>
            {found.present && (
              <DangerZone>
                <Consequence meaning={texts.credential.removeRow}>
                  <Button kind="danger" onClick={() => setRemoving(true)}>
                    {texts.credential.remove}
                  </Button>
                </Consequence>
              </DangerZone>
            )}
          </div>
        )}
      </Loaded>
      {isRemoving && <Removal onClose={() => setRemoving(false)} />}
    </Screen>
  )
}

export default LiveMode
