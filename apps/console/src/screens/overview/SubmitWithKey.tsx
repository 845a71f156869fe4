import { createConnection, submitInvoice } from "@govoice/client"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { Link } from "wouter"
import { sampleInvoice } from "../../snippets/submission.ts"
import { en } from "../../text/en.ts"
import { Button } from "../../ui/Button.tsx"
import { Select } from "../../ui/Field.tsx"
import { Notice, ProblemNotice } from "../../ui/Notice.tsx"
import { paths } from "../../url/paths.ts"

const scenarios = ["accepted", "rejected", "temporary_failure", "delayed"] as const

/** Submits a sandbox invoice with a test key that is on the screen. The key is not kept. */
export const SubmitWithKey = ({
  apiKey,
  onSubmitted,
  org
}: {
  readonly org: string
  readonly apiKey: string
  readonly onSubmitted?: () => void
}) => {
  const queryClient = useQueryClient()
  const [scenario, setScenario] = useState<(typeof scenarios)[number]>("accepted")
  const [submitted, setSubmitted] = useState<string>()
  const { error, isPending, mutate } = useMutation({
    mutationFn: async () => {
      if (!apiKey.startsWith("sk_test_")) throw new Error(en.submit.onlyTest)
      const { id } = await submitInvoice(createConnection({ baseUrl: location.origin, apiKey }), {
        invoiceXml: sampleInvoice,
        metadata: { source: "console" },
        sandboxScenario: scenario
      })
      setSubmitted(id)
    },
    gcTime: 0,
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ["organizations", org] })
      onSubmitted?.()
    }
  })
  return (
    <div className="stack-tight">
      <Select
        label={en.submit.scenario}
        value={scenario}
        hint={en.submit.scenarios[scenario]}
        onChange={(event) => setScenario(event.target.value as typeof scenario)}
      >
        {scenarios.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </Select>
      <div>
        <Button icon="invoice" busy={isPending} onClick={() => mutate()}>
          {en.submit.button}
        </Button>
      </div>
      {error !== null && <ProblemNotice error={error} />}
      {submitted !== undefined && (
        <Notice tone="good" role="status">
          <p>
            {en.submit.done} <Link to={paths.invoice(org, submitted)}>{en.submit.open}</Link>
          </p>
        </Notice>
      )}
    </div>
  )
}
