import { updateWebhookEndpoint, type WebhookEndpoint } from "@govoice/client"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { connection } from "../../api/connection.ts"
import { endpointQuery } from "../../api/queries.ts"
import { texts } from "../../text/texts.ts"
import { Button } from "../../ui/Button.tsx"
import { TextArea } from "../../ui/Field.tsx"
import { ProblemNotice } from "../../ui/Notice.tsx"
import { Facts, Panel } from "../../ui/Panel.tsx"
import { fieldErrors } from "../../ui/problems.ts"
import { toast } from "../../ui/Toasts.tsx"

/** Reads one header from each line; `undefined` if a line is none. */
const headersOf = (text: string): Readonly<Record<string, string>> | undefined => {
  const lines = text.split("\n").filter((line) => line.trim() !== "")
  const pairs = lines.map((line) => {
    const colon = line.indexOf(":")
    return [line.slice(0, Math.max(colon, 0)).trim(), line.slice(colon + 1).trim()] as const
  })
  return pairs.some(([name, value]) => name === "" || value === "") ? undefined : Object.fromEntries(pairs)
}

/** The headers of an endpoint: their names, and a form that replaces them. Values are in its state until they are saved. */
export const Headers = ({ endpoint }: { readonly endpoint: WebhookEndpoint }) => {
  const queryClient = useQueryClient()
  const [text, setText] = useState("")
  const [wasSent, setSent] = useState(false)
  const { error, isPending, mutate, reset } = useMutation({
    mutationFn: (headers: Readonly<Record<string, string>>) =>
      updateWebhookEndpoint(connection, endpoint.id, { headers }),
    onSuccess: (changed) => {
      queryClient.setQueryData(endpointQuery(endpoint.id).queryKey, changed)
      setText("")
      setSent(false)
      toast(texts.endpoints.headersSaved)
    }
  })
  const headers = headersOf(text)
  const errors = fieldErrors(error, ["headers"])
  const fault = wasSent && headers === undefined ? texts.endpoints.headerFault : undefined
  return (
    <Panel title={texts.endpoints.headers}>
      <p className="small muted">{texts.endpoints.headersMeaning}</p>
      <Facts
        entries={[
          [
            texts.endpoints.headerNames,
            endpoint.headers.length === 0 ? texts.endpoints.noHeaders : <code>{endpoint.headers.join(", ")}</code>
          ]
        ]}
      />
      <form
        className="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          setSent(true)
          if (headers !== undefined && Object.keys(headers).length > 0) mutate(headers)
        }}
      >
        {errors.rest !== null && <ProblemNotice error={errors.rest} />}
        <TextArea
          label={texts.endpoints.newHeaders}
          isCode
          rows={3}
          autoComplete="off"
          hint={texts.endpoints.newHeadersHint}
          error={fault ?? errors.of("headers")}
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            if (error !== null) reset()
          }}
        />
        <div className="line">
          <Button type="submit" busy={isPending} disabled={text.trim() === ""}>
            {texts.endpoints.replaceHeaders}
          </Button>
          <Button disabled={isPending || endpoint.headers.length === 0} onClick={() => mutate({})}>
            {texts.endpoints.removeHeaders}
          </Button>
        </div>
      </form>
    </Panel>
  )
}
