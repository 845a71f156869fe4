import { createApiKey, type NewApiKey as Created } from "@govoice/client"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { useLocation } from "wouter"
import { connection } from "../../api/connection.ts"
import { configQuery, keysQuery } from "../../api/queries.ts"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { Screen } from "../../ui/Screen.tsx"
import { curlSubmission } from "../../snippets/submission.ts"
import { en } from "../../text/en.ts"
import { Button, ButtonLink } from "../../ui/Button.tsx"
import { Check, Field, Group, Select } from "../../ui/Field.tsx"
import { Notice, ProblemNotice } from "../../ui/Notice.tsx"
import { SecretOnce } from "../../ui/SecretOnce.tsx"
import { Snippet } from "../../ui/Snippet.tsx"
import { paths } from "../../url/paths.ts"
import { SubmitWithKey } from "../overview/SubmitWithKey.tsx"
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
  return (
    <Screen title={en.apiKeys.create} parent={{ label: en.nav.keys, to: paths.keys(org) }} isLive={mode === "live"}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          const form = new FormData(event.currentTarget)
          mutate({ name: textOf(form, "name").trim(), days: Number(form.get("days")) })
        }}
      >
        {error !== null && <ProblemNotice error={error} />}
        <Group legend={en.mode.title}>
          <Check
            type="radio"
            name="mode"
            checked={mode === "test"}
            onChange={() => setMode("test")}
            hint={en.apiKeys.testMeaning}
          >
            <span className="strong">{en.mode.test}</span>
          </Check>
          <Check
            type="radio"
            name="mode"
            checked={mode === "live"}
            onChange={() => setMode("live")}
            hint={en.apiKeys.liveMeaning}
          >
            <span className="strong">{en.mode.live}</span>
          </Check>
        </Group>
        {mode === "live" && config.data?.liveMode === false && (
          <Notice tone="warn">
            <p>{en.apiKeys.liveModeOff}</p>
          </Notice>
        )}
        <Field label={en.name} name="name" maxLength={200} autoComplete="off" hint={en.apiKeys.nameHint} />
        <Select label={en.apiKeys.expires} name="days" defaultValue="0" hint={en.apiKeys.expiresHint}>
          {lifetimes.map((days) => (
            <option key={days} value={days}>
              {days === 0 ? en.never : en.days(days)}
            </option>
          ))}
        </Select>
        <div className="line">
          <Button type="submit" kind="primary" busy={isPending}>
            {en.apiKeys.submit}
          </Button>
          <ButtonLink to={paths.keys(org)}>{en.cancel}</ButtonLink>
        </div>
      </form>
      {created !== undefined && (
        <SecretOnce
          title={en.apiKeys.createdTitle(created.mode === "live" ? en.mode.live : en.mode.test)}
          secret={created.secret}
          variable="GOVOICE_API_KEY"
          onClose={() => {
            setCreated(undefined)
            navigate(paths.keys(org))
          }}
        >
          {created.mode === "test" ? (
            <SubmitWithKey org={org} apiKey={created.secret} />
          ) : (
            <Snippet label={en.apiKeys.use} forms={[curlSubmission(location.origin)]} />
          )}
        </SecretOnce>
      )}
    </Screen>
  )
}

export default NewApiKey
