import type { WebhookEndpoint } from "@govoice/client"
import { useQuery } from "@tanstack/react-query"
import { Suspense, useState } from "react"
import { useSearch } from "wouter"
import { endpointQuery } from "../../api/queries.ts"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { Screen } from "../../ui/Screen.tsx"
import { receivers } from "../../snippets/receiver.ts"
import { texts } from "../../text/texts.ts"
import { guides } from "../../ui/guides.tsx"
import { Id } from "../../ui/Id.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { Notice, ProblemNotice } from "../../ui/Notice.tsx"
import { OwnerNotices } from "../notices/lazyNotices.ts"
import { Snippet } from "../../ui/Snippet.tsx"
import { Switch } from "../../ui/Switch.tsx"
import { Tabs } from "../../ui/Tabs.tsx"
import { healthSearch } from "../../url/searches.ts"
import { type EndpointTab, endpointTabs, paths } from "../../url/paths.ts"
import { DeliveryList } from "../deliveries/DeliveryList.tsx"
import { Dropped } from "../lists/Dropped.tsx"
import { EndpointSettings } from "./EndpointSettings.tsx"
import { Health } from "./Health.tsx"
import { Reasons } from "./Reasons.tsx"
import { TurnOff, useEnabled } from "./TurnOff.tsx"

const EnabledSwitch = ({ endpoint }: { readonly endpoint: WebhookEndpoint }) => {
  const [isAsking, setAsking] = useState(false)
  const { error, isPending, mutate } = useEnabled(endpoint)
  return (
    <>
      {error !== null && <ProblemNotice error={error} />}
      <Switch
        label={texts.endpoints.switch}
        isOn={endpoint.enabled}
        words={[texts.endpoints.on, texts.endpoints.off]}
        onChange={(next) => {
          if (!next) setAsking(true)
          else if (!isPending) mutate(true)
        }}
      />
      {isAsking && <TurnOff endpoint={endpoint} onClose={() => setAsking(false)} />}
    </>
  )
}

const Receiver = ({ endpoint }: { readonly endpoint: WebhookEndpoint }) => (
  <div className="stack">
    <p className="muted">{texts.endpoints.receiverMeaning}</p>
    <Snippet label={texts.endpoints.receiver} forms={receivers(endpoint.url)} />
    <p className="small muted">{texts.endpoints.noResend}</p>
    <div>{guides.webhooks}</div>
  </div>
)

const isTab = (text: string): text is EndpointTab => (endpointTabs as ReadonlyArray<string>).includes(text)

/** One endpoint, with its tabs. */
const Endpoint = ({ id, tab }: { readonly id: string; readonly tab: string }) => {
  const { id: org } = useCurrentOrganization()
  const endpoint = useQuery(endpointQuery(id))
  const { data } = endpoint
  const current: EndpointTab = isTab(tab) ? tab : "health"
  const { dropped } = healthSearch.read(useSearch())
  return (
    <Screen
      title={data?.url ?? texts.endpoints.endpoint}
      parent={{ label: texts.nav.endpoints, to: paths.endpoints(org) }}
      beside={<Id id={id} />}
      part={texts.endpoints.tab[current]}
      actions={data !== undefined && <EnabledSwitch endpoint={data} />}
    >
      <div className="stack">
        {data !== undefined && data.disabledReason !== null && (
          <Suspense fallback={null}>
            <OwnerNotices
              isHere
              org={org}
              notices={[{ type: "endpoint_disabled", endpointId: id, since: data.failingSince, expiresAt: null }]}
            />
          </Suspense>
        )}
        {data?.nextSecretAt && (
          <Notice tone="info">
            <p>
              {texts.endpoints.rotationPending} <Instant at={data.nextSecretAt} whole />
            </p>
          </Notice>
        )}
        <Tabs
          label={texts.endpoints.tabs}
          tabs={endpointTabs.map((name) => ({
            label: texts.endpoints.tab[name],
            to: paths.endpointTab(org, id, name),
            isCurrent: name === current
          }))}
        />
        <Dropped names={[...(isTab(tab) ? [] : [tab]), ...(current === "health" ? dropped : [])]} />
        {current === "deliveries" ? (
          <DeliveryList endpoint={id} />
        ) : data === undefined && endpoint.error !== null ? (
          <ProblemNotice error={endpoint.error} onRetry={() => void endpoint.refetch()} />
        ) : (
          <Loaded query={endpoint}>
            {(found) =>
              current === "receiver" ? (
                <Receiver endpoint={found} />
              ) : current === "settings" ? (
                <EndpointSettings key={found.id} endpoint={found} />
              ) : (
                <>
                  <Health endpoint={found} />
                  <Reasons endpoint={found} />
                </>
              )
            }
          </Loaded>
        )}
      </div>
    </Screen>
  )
}

export default Endpoint
