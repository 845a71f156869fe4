import { type RotatedWebhookEndpoint, rotateWebhookSecret, type WebhookEndpoint } from "@govoice/client"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { connection } from "../../api/connection.ts"
import { endpointQuery } from "../../api/queries.ts"
import { rotationVerifier } from "../../snippets/receiver.ts"
import { texts } from "../../text/texts.ts"
import { Button } from "../../ui/Button.tsx"
import { Dialog } from "../../ui/Dialog.tsx"
import { Check, Group } from "../../ui/Field.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { Notice, ProblemNotice } from "../../ui/Notice.tsx"
import { SecretOnce } from "../../ui/SecretOnce.tsx"
import { Snippet } from "../../ui/Snippet.tsx"

/** The delays on offer, in seconds. */
const delays = [0, 3600, 86_400, 604_800] as const

/** Rotates the signing secret: asks when, then shows the new secret once. */
export const Rotation = ({
  endpoint,
  onClose
}: {
  readonly endpoint: WebhookEndpoint
  readonly onClose: () => void
}) => {
  const queryClient = useQueryClient()
  const [delay, setDelay] = useState<number>(86_400)
  // The secret is in this state and nowhere else.
  const [rotated, setRotated] = useState<RotatedWebhookEndpoint>()
  const { error, isPending, mutate } = useMutation({
    mutationFn: async () =>
      setRotated(await rotateWebhookSecret(connection, endpoint.id, { activatesInSeconds: delay })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: endpointQuery(endpoint.id).queryKey })
  })
  if (rotated !== undefined)
    return (
      <SecretOnce
        title={texts.rotation.doneTitle}
        secret={rotated.secret}
        variable="NEW_WEBHOOK_SECRET"
        onClose={onClose}
      >
        <p>
          {delay === 0 ? (
            texts.rotation.activeNow
          ) : (
            <>
              {texts.rotation.oldSignsUntil} <Instant at={rotated.secretActivatesAt} whole />
            </>
          )}
        </p>
        <Snippet label={texts.rotation.snippet} forms={[rotationVerifier]} />
      </SecretOnce>
    )
  return (
    <Dialog
      title={texts.rotation.title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{texts.cancel}</Button>
          <Button kind="danger" busy={isPending} onClick={() => mutate()}>
            {texts.endpoints.rotate}
          </Button>
        </>
      }
    >
      <p>{texts.rotation.meaning}</p>
      <Group legend={texts.rotation.when}>
        {delays.map((seconds) => (
          <Check
            key={seconds}
            type="radio"
            name="delay"
            checked={delay === seconds}
            onChange={() => setDelay(seconds)}
            hint={seconds === 86_400 ? texts.rotation.proposed : undefined}
          >
            {texts.rotation.delays[seconds]}
          </Check>
        ))}
      </Group>
      {delay === 0 && (
        <Notice tone="warn">
          <p>{texts.rotation.nowWarning}</p>
        </Notice>
      )}
      <Snippet label={texts.rotation.snippet} forms={[rotationVerifier]} />
      {endpoint.nextSecretAt !== null && <p className="small muted">{texts.rotation.replaces}</p>}
      {error !== null && <ProblemNotice error={error} />}
    </Dialog>
  )
}
