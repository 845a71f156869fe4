import { deleteGatewayCredential, type GatewayCredential } from "@govoice/client"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { connection } from "../../api/connection.ts"
import { configQuery, credentialQuery, liveStatusQuery } from "../../api/queries.ts"
import { LiveButton } from "../../ui/LiveButton.tsx"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { Screen } from "../../ui/Screen.tsx"
import { en } from "../../text/en.ts"
import { Button } from "../../ui/Button.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { Notice } from "../../ui/Notice.tsx"
import { Facts, Panel } from "../../ui/Panel.tsx"
import { Skeleton } from "../../ui/Skeleton.tsx"
import { Badge } from "../../ui/StatusBadge.tsx"
import { toast } from "../../ui/Toasts.tsx"
import { TypedConfirmation } from "../../ui/TypedConfirmation.tsx"
import { CredentialForm } from "./CredentialForm.tsx"
import { Progress } from "./Progress.tsx"

const StateBadge = ({ state }: Pick<GatewayCredential, "state">) =>
  state === "accepted" ? (
    <Badge icon="check" tone="good" text={en.credential.states.accepted} />
  ) : state === "refused" ? (
    <Badge icon="cross" tone="bad" text={en.credential.states.refused} />
  ) : (
    <Badge icon="dotted" tone="info" text={en.credential.states.unchecked} />
  )

const kindOf = (type: string | null) =>
  type === "certificate" ? en.credential.certificate : type === "ksef_token" ? en.credential.token : type

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
      ? en.live.credentialAccepted
      : state === "refused"
        ? en.live.credentialRefused
        : en.live.credentialUnchecked
  ]
  const conditions: ReadonlyArray<readonly [isMet: boolean, text: string]> = [
    [liveMode, liveMode ? en.live.deploymentOn : en.live.deploymentOff],
    [present, present ? en.live.credentialStored : en.live.credentialMissing],
    ...(present ? [seen] : [])
  ]
  return (
    <>
      <ul className="stack-tight">
        {conditions.map(([isMet, text]) => (
          <li key={text} className="point small">
            <Icon name={isMet ? "check" : "dotted"} label={isMet ? en.live.met : en.live.open} />
            <span className={isMet ? undefined : "muted"}>{text}</span>
          </li>
        ))}
      </ul>
      {environment && (
        <p className="small">
          {en.live.environment} <code>{environment}</code>
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
          {en.credential.refusalCode} <code>{credential.refusal.code}</code>
        </p>
      </Notice>
    )}
    <Facts
      entries={[
        [en.credential.state, <StateBadge state={credential.state} />],
        [en.credential.kind, kindOf(credential.type)],
        [en.credential.nip, credential.contextNip && <code>{credential.contextNip}</code>],
        [en.credential.environment, credential.environment && <code>{credential.environment}</code>],
        [en.credential.expires, credential.expiresAt && <Instant at={credential.expiresAt} whole />],
        [en.credential.checked, credential.checkedAt && <Instant at={credential.checkedAt} />],
        [en.credential.storedAt, credential.updatedAt && <Instant at={credential.updatedAt} whole />]
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
      toast(en.credential.removed)
      onClose()
    }
  })
  return (
    <TypedConfirmation
      title={en.credential.removeTitle}
      action={en.credential.remove}
      isBusy={isPending}
      error={error}
      typed={{ text: name.trim(), label: en.credential.typeName(name) }}
      onCancel={onClose}
      onConfirm={() => mutate()}
    >
      <p>{en.credential.removeMeaning}</p>
    </TypedConfirmation>
  )
}

/** Whether this organization can submit to the national system, and what is missing. */
const LiveMode = () => {
  const { id: org } = useCurrentOrganization()
  const config = useQuery(configQuery)
  const credential = useQuery(credentialQuery(org))
  const status = useQuery(liveStatusQuery(org))
  const [isReplacing, setReplacing] = useState(false)
  const [isRemoving, setRemoving] = useState(false)
  return (
    <Screen title={en.nav.live} isLive actions={<LiveButton updatedAt={credential.dataUpdatedAt} />}>
      <Loaded query={credential} skeleton={<Skeleton lines={8} />}>
        {(found) => (
          <div className="stack">
            <Panel title={en.live.conditions}>
              <Conditions
                credential={found}
                environment={status.data?.environment}
                liveMode={config.data?.liveMode === true}
              />
            </Panel>
            <Panel title={en.credential.title}>
              {found.present ? <Stored credential={found} /> : <p className="muted">{en.credential.none}</p>}
              {(!found.present || isReplacing) && (
                <CredentialForm org={org} onDone={() => setReplacing(false)} isReplacing={found.present} />
              )}
            </Panel>
            <Loaded query={status}>{(live) => <Progress status={live} />}</Loaded>
            {found.present && (
              <Panel title={en.dangerZone}>
                <div className="line">
                  {!isReplacing && <Button onClick={() => setReplacing(true)}>{en.credential.replace}</Button>}
                  <Button onClick={() => setRemoving(true)}>{en.credential.remove}</Button>
                </div>
              </Panel>
            )}
          </div>
        )}
      </Loaded>
      {isRemoving && <Removal onClose={() => setRemoving(false)} />}
    </Screen>
  )
}

export default LiveMode
