import {
  deleteWebhookEndpoint,
  type Known,
  type Mode,
  updateWebhookEndpoint,
  type WebhookEndpoint
} from "@govoice/client"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { useLocation } from "wouter"
import { connection } from "../../api/connection.ts"
import { endpointQuery, endpointsQuery } from "../../api/queries.ts"
import { texts } from "../../text/texts.ts"
import { Button } from "../../ui/Button.tsx"
import { Consequence, DangerZone } from "../../ui/DangerZone.tsx"
import { Check, Field } from "../../ui/Field.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { ProblemNotice } from "../../ui/Notice.tsx"
import { Facts, Panel } from "../../ui/Panel.tsx"
import { toast } from "../../ui/Toasts.tsx"
import { TypedConfirmation } from "../../ui/TypedConfirmation.tsx"
import { paths } from "../../url/paths.ts"
import { EventTypes, type Subscription } from "./EventTypes.tsx"
import { faultOf, partsOf } from "../../url/endpointUrl.ts"
import { Headers } from "./Headers.tsx"
import { Modes } from "./Modes.tsx"
import { Rotation } from "./Rotation.tsx"
import { TurnOff, useOnTheirWay } from "./TurnOff.tsx"
import { fieldErrors } from "../../ui/problems.ts"
import { textOf } from "../../ui/form.ts"

const General = ({ endpoint }: { readonly endpoint: WebhookEndpoint }) => {
  const queryClient = useQueryClient()
  const [url, setUrl] = useState(endpoint.url)
  const [types, setTypes] = useState<Subscription>(endpoint.eventTypes as Subscription)
  const [modes, setModes] = useState(endpoint.modes as ReadonlyArray<Known<Mode>>)
  const [isStandard, setStandard] = useState(endpoint.standardWebhooks)
  const { error, isPending, mutate, reset } = useMutation({
    mutationFn: ({ description, maxInFlight }: { readonly description: string; readonly maxInFlight: string }) =>
      updateWebhookEndpoint(connection, endpoint.id, {
        url: url.trim(),
        eventTypes: types,
        modes,
        description: description || null,
        maxInFlight: maxInFlight === "" ? null : Number(maxInFlight),
        // Sent when it changes: the server refuses it for secrets of an older format.
        ...(isStandard !== endpoint.standardWebhooks && { standardWebhooks: isStandard })
      }),
    onSuccess: async (changed) => {
      queryClient.setQueryData(endpointQuery(endpoint.id).queryKey, changed)
      await queryClient.invalidateQueries({ queryKey: endpointsQuery(endpoint.organizationId).queryKey })
      toast(texts.saved)
    }
  })
  const errors = fieldErrors(error, ["url", "description", "max_in_flight"])
  return (
    <Panel title={texts.endpoints.general}>
      <form
        className="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          const form = new FormData(event.currentTarget)
          if (faultOf(url.trim()) === undefined)
            mutate({ description: textOf(form, "note").trim(), maxInFlight: textOf(form, "max_in_flight").trim() })
        }}
      >
        {errors.rest !== null && <ProblemNotice error={errors.rest} />}
        <Field
          label={texts.endpoints.url}
          isCode
          type="url"
          required
          autoComplete="off"
          spellCheck={false}
          hint={texts.endpoints.urlHint}
          error={faultOf(url.trim()) ?? errors.of("url")}
          value={url}
          onChange={(event) => {
            setUrl(event.target.value)
            if (error !== null) reset()
          }}
        />
        <EventTypes value={types} onChange={setTypes} />
        <Modes value={modes} onChange={setModes} />
        <Field
          label={texts.endpoints.note}
          name="note"
          maxLength={500}
          autoComplete="off"
          error={errors.of("description")}
          defaultValue={endpoint.description ?? ""}
        />
        <Field
          label={texts.endpoints.maxInFlight}
          name="max_in_flight"
          type="number"
          min={1}
          inputMode="numeric"
          autoComplete="off"
          hint={texts.endpoints.maxInFlightHint}
          error={errors.of("max_in_flight")}
          defaultValue={endpoint.maxInFlight ?? ""}
        />
        <Check
          checked={isStandard}
          onChange={(event) => setStandard(event.target.checked)}
          hint={texts.endpoints.standardHint}
        >
          {texts.endpoints.standard}
        </Check>
        <div>
          <Button type="submit" busy={isPending} disabled={types.length === 0}>
            {texts.save}
          </Button>
        </div>
      </form>
      <Facts
        entries={[
          [texts.created, <Instant at={endpoint.createdAt} whole />],
          [texts.updated, <Instant at={endpoint.updatedAt} whole />]
        ]}
      />
    </Panel>
  )
}

type Step = "off" | "delete"

/** The signing secret, which is never shown again, and its rotation. */
const SigningSecret = ({ endpoint }: { readonly endpoint: WebhookEndpoint }) => {
  const [isRotating, setRotating] = useState(false)
  return (
    <Panel title={texts.endpoints.secretTitle}>
      <p className="muted">{texts.endpoints.secretRow}</p>
      <div>
        <Button icon="key" onClick={() => setRotating(true)}>
          {texts.endpoints.rotate}
        </Button>
      </div>
      {isRotating && <Rotation endpoint={endpoint} onClose={() => setRotating(false)} />}
    </Panel>
  )
}

const Removal = ({ endpoint }: { readonly endpoint: WebhookEndpoint }) => {
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
      toast(texts.endpoints.deleted)
    }
  })
  const { host } = partsOf(endpoint.url)
  const close = () => setStep(undefined)
  return (
    <>
      <DangerZone>
        <Consequence meaning={texts.endpoints.turnOffRow}>
          <Button disabled={!endpoint.enabled} onClick={() => setStep("off")}>
            {texts.endpoints.turnOff}
          </Button>
        </Consequence>
        <Consequence meaning={texts.endpoints.deleteRow}>
          <Button kind="danger" onClick={() => setStep("delete")}>
            {texts.endpoints.delete}
          </Button>
        </Consequence>
      </DangerZone>
      {step === "off" && <TurnOff endpoint={endpoint} onClose={close} />}
      {step === "delete" && (
        <TypedConfirmation
          title={texts.endpoints.deleteTitle}
          action={texts.endpoints.delete}
          isBusy={remove.isPending}
          error={remove.error}
          typed={{ text: host, label: texts.endpoints.typeHost(host) }}
          onCancel={close}
          onConfirm={() => remove.mutate()}
        >
          <p>{texts.endpoints.deleteMeaning(onTheirWay)}</p>
        </TypedConfirmation>
      )}
    </>
  )
}

export const EndpointSettings = ({ endpoint }: { readonly endpoint: WebhookEndpoint }) => (
  <div className="stack">
    <General endpoint={endpoint} />
    <Headers endpoint={endpoint} />
    <SigningSecret endpoint={endpoint} />
    <Removal endpoint={endpoint} />
  </div>
)
