import { createApiKey, createConnection, revokeApiKey, submitInvoice } from "@govoice/client"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { Link } from "wouter"
import { connection } from "../../api/connection.ts"
import { sandboxInvoice } from "../../snippets/submission.ts"
import { texts } from "../../text/texts.ts"
import { Button } from "../../ui/Button.tsx"
import { Select } from "../../ui/Field.tsx"
import { Notice, ProblemNotice } from "../../ui/Notice.tsx"
import { paths } from "../../url/paths.ts"

const scenarios = ["accepted", "rejected", "temporary_failure", "delayed"] as const

/** A key that could not be revoked expires by itself. */
const lifetimeMs = 10 * 60_000

/** Submits a sandbox invoice with a test key that exists for this request. Its secret is in this function alone. */
const submit = async (org: string, scenario: (typeof scenarios)[number]): Promise<string> => {
  const { id, secret } = await createApiKey(connection, org, {
    mode: "test",
    name: texts.submit.keyName,
    expiresAt: new Date(Date.now() + lifetimeMs).toISOString()
  })
  try {
    const invoice = await submitInvoice(createConnection({ baseUrl: location.origin, apiKey: secret }), {
      invoiceXml: sandboxInvoice(new Date()),
      metadata: { source: "console" },
      sandboxScenario: scenario
    })
    return invoice.id
  } finally {
    await revokeApiKey(connection, id).catch(() => {})
  }
}

/** The choice of a scenario, and the button that submits a sandbox invoice. */
export const SubmitInvoice = ({ org }: { readonly org: string }) => {
  const queryClient = useQueryClient()
  const [scenario, setScenario] = useState<(typeof scenarios)[number]>("accepted")
  const { data, error, isPending, mutate } = useMutation({
    mutationFn: () => submit(org, scenario),
    gcTime: 0,
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["organizations", org] })
  })
  return (
    <div className="stack-tight">
      <Select
        label={texts.submit.scenario}
        value={scenario}
        hint={texts.submit.scenarios[scenario]}
        onChange={(event) => setScenario(event.target.value as typeof scenario)}
      >
        {scenarios.map((name) => (
          <option key={name} value={name}>
            {texts.submit.scenarioNames[name]}
          </option>
        ))}
      </Select>
      <div>
        <Button kind="primary" icon="invoice" busy={isPending} onClick={() => mutate()}>
          {texts.submit.button}
        </Button>
      </div>
      {error !== null && <ProblemNotice error={error} />}
      {data !== undefined && (
        <Notice tone="good" role="status">
          <p>
            {texts.submit.done} <Link to={paths.invoice(org, data)}>{texts.submit.open}</Link>
          </p>
        </Notice>
      )}
    </div>
  )
}
