import { createWebhookEndpoint, type NewWebhookEndpoint } from "@govoice/client"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { useLocation } from "wouter"
import { connection } from "../../api/connection.ts"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { Screen } from "../../ui/Screen.tsx"
import { problemOf } from "../../session/problem.ts"
import { localReceivers } from "../../snippets/localReceivers.ts"
import { receivers } from "../../snippets/receiver.ts"
import { en } from "../../text/en.ts"
import { Button, ButtonLink } from "../../ui/Button.tsx"
import { Field } from "../../ui/Field.tsx"
import { Notice, ProblemNotice } from "../../ui/Notice.tsx"
import { SecretOnce } from "../../ui/SecretOnce.tsx"
import { Snippet } from "../../ui/Snippet.tsx"
import { paths } from "../../url/paths.ts"
import { EventTypes, type Subscription } from "./EventTypes.tsx"
import { faultOf, isLoopback } from "../../url/endpointUrl.ts"
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
  // The secret is in this state and nowhere else.
  const [created, setCreated] = useState<NewWebhookEndpoint>()
  const { error, isPending, mutate, reset } = useMutation({
    mutationFn: async (description: string) =>
      setCreated(
        await createWebhookEndpoint(connection, org, {
          url: url.trim(),
          eventTypes: types,
          description: description || null
        })
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["organizations", org] })
  })
  const problem = error === null ? undefined : problemOf(error)
  const fault = wasLeft && (url !== "" || submissions > 0) ? faultOf(url.trim()) : undefined
  const refusal = problem?.param === "url" ? problem.message : undefined
  const form = useFaultFocus(submissions, error)
  return (
    <Screen title={en.endpoints.create} parent={{ label: en.nav.endpoints, to: paths.endpoints(org) }}>
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
        {problem !== undefined && <ProblemNotice error={error} />}
        <Field
          label={en.endpoints.url}
          isCode
          type="url"
          inputMode="url"
          required
          autoComplete="off"
          spellCheck={false}
          placeholder="https://shop.example.com/hooks/govoice"
          hint={en.endpoints.urlHint}
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
            <p>{en.endpoints.localMeaning}</p>
            <Snippet label={en.endpoints.localSettings} forms={[localReceivers]} />
          </Notice>
        )}
        <EventTypes value={types} onChange={setTypes} />
        <Field label={en.endpoints.note} name="note" maxLength={500} autoComplete="off" />
        <div className="line">
          <Button type="submit" kind="primary" busy={isPending} disabled={types.length === 0}>
            {en.endpoints.submit}
          </Button>
          <ButtonLink to={paths.endpoints(org)}>{en.cancel}</ButtonLink>
        </div>
      </form>
      {created !== undefined && (
        <SecretOnce
          title={en.endpoints.createdTitle}
          secret={created.secret}
          variable="GOVOICE_WEBHOOK_SECRET"
          onClose={() => navigate(paths.endpointTab(org, created.id, "receiver"))}
        >
          <p className="small muted">{en.endpoints.secretMeaning}</p>
          <Snippet label={en.endpoints.receiver} forms={receivers(created.url)} />
        </SecretOnce>
      )}
    </Screen>
  )
}

export default NewEndpoint
