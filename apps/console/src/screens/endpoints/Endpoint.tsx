import type { WebhookEndpoint } from "@govoice/client"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { useSearch } from "wouter"
import { endpointQuery } from "../../api/queries.ts"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { Screen } from "../../ui/Screen.tsx"
import { receivers } from "../../snippets/receiver.ts"
import { en } from "../../text/en.ts"
import { Id } from "../../ui/Id.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { Notice, ProblemNotice } from "../../ui/Notice.tsx"
import { Snippet } from "../../ui/Snippet.tsx"
import { Switch } from "../../ui/Switch.tsx"
import { Tabs } from "../../ui/Tabs.tsx"
import { shorten } from "../../url/ids.ts"
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
        label={en.endpoints.switch}
        isOn={endpoint.enabled}
        words={[en.endpoints.on, en.endpoints.off]}
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
    <p className="muted">{en.endpoints.receiverMeaning}</p>
    <Snippet label={en.endpoints.receiver} forms={receivers(endpoint.url)} />
    <p className="small muted">{en.endpoints.noResend}</p>
  </div>
)

const isTab = (text: string): text is EndpointTab => (endpointTabs as ReadonlyArray<string>).includes(text)

/** One endpoint, with its tabs. */
const Endpoint = ({ delivery, id, tab }: { readonly id: string; readonly tab: string; readonly delivery?: string }) => {
  const { id: org } = useCurrentOrganization()
  const endpoint = useQuery(endpointQuery(id))
  const { data } = endpoint
  const current: EndpointTab = isTab(tab) ? tab : "health"
  const { dropped } = healthSearch.read(useSearch())
  return (
    <Screen
      title={data?.url ?? en.endpoints.endpoint}
      parent={{ label: en.nav.endpoints, to: paths.endpoints(org) }}
      beside={<Id id={id} />}
      part={delivery === undefined ? en.endpoints.tab[current] : en.delivery.titleOfOne(shorten(delivery))}
      address={paths.endpointTab(org, id, current)}
      actions={data !== undefined && <EnabledSwitch endpoint={data} />}
    >
      <div className="stack">
        {data?.nextSecretAt && (
          <Notice tone="info">
            <p>
              {en.endpoints.rotationPending} <Instant at={data.nextSecretAt} whole />
            </p>
          </Notice>
        )}
        <Tabs
          label={en.endpoints.tabs}
          tabs={endpointTabs.map((name) => ({
            label: en.endpoints.tab[name],
            to: paths.endpointTab(org, id, name),
            isCurrent: name === current
          }))}
        />
        <Dropped names={[...(isTab(tab) ? [] : [tab]), ...(current === "health" ? dropped : [])]} />
        {current === "deliveries" ? (
          <DeliveryList endpoint={id} open={delivery === undefined ? undefined : { endpoint: id, delivery }} />
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
