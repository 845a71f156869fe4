import { createWebhookEndpoint, type NewWebhookEndpoint } from "@govoice/client"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { useLocation } from "wouter"
import { connection } from "../../api/connection.ts"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { Screen } from "../../ui/Screen.tsx"
import { localReceivers } from "../../snippets/localReceivers.ts"
import { receivers } from "../../snippets/receiver.ts"
import { texts } from "../../text/texts.ts"
import { Button, ButtonLink } from "../../ui/Button.tsx"
import { Field } from "../../ui/Field.tsx"
import { Notice, ProblemNotice } from "../../ui/Notice.tsx"
import { SecretOnce } from "../../ui/SecretOnce.tsx"
import { Snippet } from "../../ui/Snippet.tsx"
import { paths } from "../../url/paths.ts"
import { EventTypes, type Subscription } from "./EventTypes.tsx"
import { allModes, Modes } from "./Modes.tsx"
import { faultOf, isLoopback } from "../../url/endpointUrl.ts"
import { fieldErrors } from "../../ui/problems.ts"
import { textOf } from "../../ui/form.ts"
import { useFaultFocus } from "../../ui/useFaultFocus.ts"

const NewEndpoint = () => {
  const { id: org } = useCurrentOrganization()
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const [url, setUrl] = useState("")
  const [wasLeft, setLeft] = useState(false)
  const [submissions, setSubmissions] = useState(0)
  const [types, setTypes] = useState<Subscription>(["*"])
  const [modes, setModes] = useState(allModes)
  // The secret is in this state and nowhere else.
  const [created, setCreated] = useState<NewWebhookEndpoint>()
  const { error, isPending, mutate, reset } = useMutation({
    mutationFn: async (description: string) =>
      setCreated(
        await createWebhookEndpoint(connection, org, {
          url: url.trim(),
          eventTypes: types,
          modes,
          description: description || null
        })
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["organizations", org] })
  })
  const errors = fieldErrors(error, ["url", "description"])
  const fault = wasLeft && (url !== "" || submissions > 0) ? faultOf(url.trim()) : undefined
  const refusal = errors.of("url")
  const form = useFaultFocus(submissions, error)
  return (
    <Screen title={texts.endpoints.create} parent={{ label: texts.nav.endpoints, to: paths.endpoints(org) }}>
      <form
        ref={form}
        className="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          setLeft(true)
          setSubmissions(submissions + 1)
          if (faultOf(url.trim()) === undefined && types.length > 0)
            mutate(textOf(new FormData(event.currentTarget), "note").trim())
        }}
      >
        {errors.rest !== null && <ProblemNotice error={errors.rest} />}
        <Field
          label={texts.endpoints.url}
          isCode
          type="url"
          inputMode="url"
          required
          autoComplete="off"
          spellCheck={false}
          placeholder="https://shop.example.com/hooks/govoice"
          hint={texts.endpoints.urlHint}
          error={fault ?? refusal}
          value={url}
          onBlur={() => setLeft(true)}
          onChange={(event) => {
            setUrl(event.target.value)
            if (error !== null) reset()
          }}
        />
        {refusal !== undefined && isLoopback(url.trim()) && (
          <Notice tone="info">
            <p>{texts.endpoints.localMeaning}</p>
            <Snippet label={texts.endpoints.localSettings} forms={[localReceivers]} />
          </Notice>
        )}
        <EventTypes value={types} onChange={setTypes} />
        <Modes value={modes} onChange={setModes} />
        <Field
          label={texts.endpoints.note}
          name="note"
          maxLength={500}
          autoComplete="off"
          error={errors.of("description")}
        />
        <div className="line">
          <Button type="submit" kind="primary" busy={isPending} disabled={types.length === 0}>
            {texts.endpoints.submit}
          </Button>
          <ButtonLink to={paths.endpoints(org)}>{texts.cancel}</ButtonLink>
        </div>
      </form>
      {created !== undefined && (
        <SecretOnce
          title={texts.endpoints.createdTitle}
          secret={created.secret}
          variable="WEBHOOK_SECRET"
          onClose={() => navigate(paths.endpointTab(org, created.id, "receiver"))}
        >
          <p className="small muted">{texts.endpoints.secretMeaning}</p>
          <Snippet label={texts.endpoints.receiver} forms={receivers(created.url)} />
        </SecretOnce>
      )}
    </Screen>
  )
}

export default NewEndpoint
