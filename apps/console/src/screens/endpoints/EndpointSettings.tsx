import { deleteWebhookEndpoint, updateWebhookEndpoint, type WebhookEndpoint } from "@govoice/client"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { useLocation } from "wouter"
import { connection } from "../../api/connection.ts"
import { endpointQuery, endpointsQuery } from "../../api/queries.ts"
import { problemOf } from "../../session/problem.ts"
import { en } from "../../text/en.ts"
import { Button } from "../../ui/Button.tsx"
import { Check, Field } from "../../ui/Field.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { ProblemNotice } from "../../ui/Notice.tsx"
import { Facts, Panel } from "../../ui/Panel.tsx"
import { toast } from "../../ui/Toasts.tsx"
import { TypedConfirmation } from "../../ui/TypedConfirmation.tsx"
import { paths } from "../../url/paths.ts"
import { EventTypes, type Subscription } from "./EventTypes.tsx"
import { faultOf, partsOf } from "../../url/endpointUrl.ts"
import { Rotation } from "./Rotation.tsx"
import { TurnOff, useOnTheirWay } from "./TurnOff.tsx"
import { textOf } from "../../ui/form.ts"

const General = ({ endpoint }: { readonly endpoint: WebhookEndpoint }) => {
  const queryClient = useQueryClient()
  const [url, setUrl] = useState(endpoint.url)
  const [types, setTypes] = useState<Subscription>(endpoint.eventTypes as Subscription)
  const [isStandard, setStandard] = useState(endpoint.standardWebhooks)
  const { error, isPending, mutate, reset } = useMutation({
    mutationFn: (description: string) =>
      updateWebhookEndpoint(connection, endpoint.id, {
        url: url.trim(),
        eventTypes: types,
        description: description || null,
        // Sent when it changes: the server refuses it for secrets of an older format.
        ...(isStandard !== endpoint.standardWebhooks && { standardWebhooks: isStandard })
      }),
    onSuccess: async (changed) => {
      queryClient.setQueryData(endpointQuery(endpoint.id).queryKey, changed)
      await queryClient.invalidateQueries({ queryKey: endpointsQuery(endpoint.organizationId).queryKey })
      toast(en.saved)
    }
  })
  const problem = error === null ? undefined : problemOf(error)
  const fault = faultOf(url.trim()) ?? (problem?.param === "url" ? problem.message : undefined)
  return (
    <Panel title={en.endpoints.general}>
      <form
        className="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (faultOf(url.trim()) === undefined) mutate(textOf(new FormData(event.currentTarget), "note").trim())
        }}
      >
        {problem !== undefined && problem.param !== "url" && <ProblemNotice error={error} />}
        <Field
          label={en.endpoints.url}
          isCode
          type="url"
          required
          autoComplete="off"
          spellCheck={false}
          hint={en.endpoints.urlHint}
          error={fault}
          value={url}
          onChange={(event) => {
            setUrl(event.target.value)
            if (error !== null) reset()
          }}
        />
        <EventTypes value={types} onChange={setTypes} />
        <Field
          label={en.endpoints.note}
          name="note"
          maxLength={500}
          autoComplete="off"
          defaultValue={endpoint.description ?? ""}
        />
        <Check
          checked={isStandard}
          onChange={(event) => setStandard(event.target.checked)}
          hint={en.endpoints.standardHint}
        >
          {en.endpoints.standard}
        </Check>
        <div>
          <Button type="submit" busy={isPending} disabled={types.length === 0}>
            {en.save}
          </Button>
        </div>
      </form>
      <Facts
        entries={[
          [en.created, <Instant at={endpoint.createdAt} whole />],
          [en.updated, <Instant at={endpoint.updatedAt} whole />]
        ]}
      />
    </Panel>
  )
}

type Step = "off" | "rotate" | "delete"

const DangerZone = ({ endpoint }: { readonly endpoint: WebhookEndpoint }) => {
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const [step, setStep] = useState<Step>()
  const onTheirWay = useOnTheirWay(endpoint)
  const refresh = () => queryClient.invalidateQueries({ queryKey: ["organizations", endpoint.organizationId] })
  const remove = useMutation({
    mutationFn: () => deleteWebhookEndpoint(connection, endpoint.id),
    onSuccess: async () => {
      navigate(paths.endpoints(endpoint.organizationId))
      await refresh()
      toast(en.endpoints.deleted)
    }
  })
  const { host } = partsOf(endpoint.url)
  const close = () => setStep(undefined)
  return (
    <Panel title={en.dangerZone}>
      <div className="line">
        <Button disabled={!endpoint.enabled} onClick={() => setStep("off")}>
          {en.endpoints.turnOff}
        </Button>
        <Button onClick={() => setStep("rotate")}>{en.endpoints.rotate}</Button>
        <Button onClick={() => setStep("delete")}>{en.endpoints.delete}</Button>
      </div>
      {step === "off" && <TurnOff endpoint={endpoint} onClose={close} />}
      {step === "delete" && (
        <TypedConfirmation
          title={en.endpoints.deleteTitle}
          action={en.endpoints.delete}
          isBusy={remove.isPending}
          error={remove.error}
          typed={{ text: host, label: en.endpoints.typeHost(host) }}
          onCancel={close}
          onConfirm={() => remove.mutate()}
        >
          <p>{en.endpoints.deleteMeaning(onTheirWay)}</p>
        </TypedConfirmation>
      )}
      {step === "rotate" && <Rotation endpoint={endpoint} onClose={close} />}
    </Panel>
  )
}

export const EndpointSettings = ({ endpoint }: { readonly endpoint: WebhookEndpoint }) => (
  <div className="stack">
    <General endpoint={endpoint} />
    <DangerZone endpoint={endpoint} />
  </div>
)
