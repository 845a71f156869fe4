import { createApiKey } from "@govoice/client"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { connection } from "../../api/connection.ts"
import { keysQuery } from "../../api/queries.ts"
import { en } from "../../text/en.ts"
import { Button } from "../../ui/Button.tsx"
import { Dialog } from "../../ui/Dialog.tsx"
import { Field } from "../../ui/Field.tsx"
import { ProblemNotice } from "../../ui/Notice.tsx"
import { SecretOnce } from "../../ui/SecretOnce.tsx"
import { SubmitWithKey } from "./SubmitWithKey.tsx"

/** Submits a sandbox invoice with a test key that the owner enters, or with a new one. */
export const SubmitFromHere = ({ onClose, org }: { readonly org: string; readonly onClose: () => void }) => {
  const queryClient = useQueryClient()
  const [apiKey, setApiKey] = useState("")
  // The secret is in this state and nowhere else.
  const [created, setCreated] = useState<string>()
  const { error, isPending, mutate } = useMutation({
    mutationFn: async () => {
      const { secret } = await createApiKey(connection, org, { mode: "test", name: en.submit.keyName })
      setCreated(secret)
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: keysQuery(org).queryKey })
  })
  if (created !== undefined)
    return (
      <SecretOnce
        title={en.apiKeys.createdTitle(en.mode.test)}
        secret={created}
        variable="GOVOICE_API_KEY"
        onClose={onClose}
      >
        <SubmitWithKey org={org} apiKey={created} />
      </SecretOnce>
    )
  const isTestKey = apiKey.trim().startsWith("sk_test_")
  return (
    <Dialog title={en.submit.title} onClose={onClose} actions={<Button onClick={onClose}>{en.close}</Button>}>
      <p className="muted">{en.submit.meaning}</p>
      <Field
        label={en.submit.key}
        isCode
        type="password"
        autoComplete="off"
        spellCheck={false}
        placeholder="sk_test_…"
        hint={en.submit.keyHint}
        error={apiKey !== "" && !isTestKey ? en.submit.onlyTest : undefined}
        value={apiKey}
        onChange={(event) => setApiKey(event.target.value)}
      />
      {isTestKey ? (
        <SubmitWithKey org={org} apiKey={apiKey.trim()} />
      ) : (
        <div className="line">
          <span className="small muted">{en.submit.or}</span>
          <Button busy={isPending} onClick={() => mutate()}>
            {en.submit.createKey}
          </Button>
        </div>
      )}
      {error !== null && <ProblemNotice error={error} />}
    </Dialog>
  )
}
