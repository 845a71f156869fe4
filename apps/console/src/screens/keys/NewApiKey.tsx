import { createApiKey, type NewApiKey as Created } from "@govoice/client"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { useLocation } from "wouter"
import { connection } from "../../api/connection.ts"
import { configQuery, keysQuery } from "../../api/queries.ts"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { Screen } from "../../ui/Screen.tsx"
import { curlSubmission } from "../../snippets/submission.ts"
import { texts } from "../../text/texts.ts"
import { Button, ButtonLink } from "../../ui/Button.tsx"
import { Check, Field, Group, Select } from "../../ui/Field.tsx"
import { Notice, ProblemNotice } from "../../ui/Notice.tsx"
import { SecretOnce } from "../../ui/SecretOnce.tsx"
import { Snippet } from "../../ui/Snippet.tsx"
import { paths } from "../../url/paths.ts"
import { SubmitInvoice } from "../overview/SubmitInvoice.tsx"
import { fieldErrors } from "../../ui/problems.ts"
import { textOf } from "../../ui/form.ts"

const dayMs = 24 * 60 * 60_000

/** The lifetimes on offer, in days. 0 is none. */
const lifetimes = [0, 30, 90, 365]

const NewApiKey = () => {
  const { id: org } = useCurrentOrganization()
  const config = useQuery(configQuery)
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const [mode, setMode] = useState<"test" | "live">("test")
  // The secret is in this state and nowhere else.
  const [created, setCreated] = useState<Created>()
  const { error, isPending, mutate } = useMutation({
    mutationFn: async (input: { readonly name: string; readonly days: number }) => {
      const expiresAt = input.days === 0 ? null : new Date(Date.now() + input.days * dayMs).toISOString()
      setCreated(await createApiKey(connection, org, { mode, name: input.name || null, expiresAt }))
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: keysQuery(org).queryKey })
  })
  const errors = fieldErrors(error, ["name"])
  return (
    <Screen
      title={texts.apiKeys.create}
      parent={{ label: texts.nav.keys, to: paths.keys(org) }}
      isLive={mode === "live"}
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          const form = new FormData(event.currentTarget)
          mutate({ name: textOf(form, "name").trim(), days: Number(form.get("days")) })
        }}
      >
        {errors.rest !== null && <ProblemNotice error={errors.rest} />}
        <Group legend={texts.mode.title}>
          <Check
            type="radio"
            name="mode"
            checked={mode === "test"}
            onChange={() => setMode("test")}
            hint={texts.apiKeys.testMeaning}
          >
            <span className="strong">{texts.mode.test}</span>
          </Check>
          <Check
            type="radio"
            name="mode"
            checked={mode === "live"}
            onChange={() => setMode("live")}
            hint={texts.apiKeys.liveMeaning}
          >
            <span className="strong">{texts.mode.live}</span>
          </Check>
        </Group>
        {mode === "live" && config.data?.liveMode === false && (
          <Notice tone="warn">
            <p>{texts.apiKeys.liveModeOff}</p>
          </Notice>
        )}
        <Field
          label={texts.name}
          name="name"
          maxLength={200}
          autoComplete="off"
          hint={texts.apiKeys.nameHint}
          error={errors.of("name")}
        />
        <Select label={texts.apiKeys.expires} name="days" defaultValue="0" hint={texts.apiKeys.expiresHint}>
          {lifetimes.map((days) => (
            <option key={days} value={days}>
              {days === 0 ? texts.never : texts.days(days)}
            </option>
          ))}
        </Select>
        <div className="line">
          <Button type="submit" kind="primary" busy={isPending}>
            {texts.apiKeys.submit}
          </Button>
          <ButtonLink to={paths.keys(org)}>{texts.cancel}</ButtonLink>
        </div>
      </form>
      {created !== undefined && (
        <SecretOnce
          title={texts.apiKeys.createdTitle(created.mode === "live" ? texts.mode.live : texts.mode.test)}
          secret={created.secret}
          variable="GOVOICE_API_KEY"
          onClose={() => {
            setCreated(undefined)
            navigate(paths.keys(org))
          }}
        >
          {created.mode === "test" ? (
            <SubmitInvoice org={org} />
          ) : (
            <Snippet label={texts.apiKeys.use} forms={[curlSubmission(location.origin)]} />
          )}
        </SecretOnce>
      )}
    </Screen>
  )
}

export default NewApiKey
