import { setGatewayCredential } from "@govoice/client"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { connection } from "../../api/connection.ts"
import { problemOf } from "../../session/problem.ts"
import { en } from "../../text/en.ts"
import { Button } from "../../ui/Button.tsx"
import { Check, Field, Group, TextArea } from "../../ui/Field.tsx"
import { Notice, ProblemNotice } from "../../ui/Notice.tsx"
import { toast } from "../../ui/Toasts.tsx"
import { isNip } from "./nip.ts"
import { textOf } from "../../ui/form.ts"
import { useFaultFocus } from "../../ui/useFaultFocus.ts"

type Kind = "ksef_token" | "certificate"

/** Stores the credential for the national system. Its secrets are in the fields of this form and in the request alone. */
export const CredentialForm = ({
  isReplacing,
  onDone,
  org
}: {
  readonly org: string
  readonly isReplacing: boolean
  readonly onDone: () => void
}) => {
  const queryClient = useQueryClient()
  const [kind, setKind] = useState<Kind>("ksef_token")
  const [nip, setNip] = useState("")
  const [wasLeft, setLeft] = useState(false)
  const [submissions, setSubmissions] = useState(0)
  const { error, isPending, mutate } = useMutation({
    mutationFn: (form: FormData) => {
      const text = (name: string) => textOf(form, name).trim()
      return setGatewayCredential(
        connection,
        org,
        kind === "ksef_token"
          ? { type: kind, token: text("token"), contextNip: nip }
          : {
              type: kind,
              certificate: text("certificate"),
              privateKey: text("privateKey"),
              privateKeyPassword: text("privateKeyPassword") || null,
              contextNip: nip
            }
      )
    },
    gcTime: 0,
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ["organizations"] })
      toast(en.credential.stored)
      onDone()
    }
  })
  const problem = error === null ? undefined : problemOf(error)
  const form = useFaultFocus(submissions, error)
  const errorOf = (name: string) => (problem?.param === name ? problem.message : undefined)
  const nipFault =
    wasLeft && (nip !== "" || submissions > 0) && !isNip(nip) ? en.credential.nipFault : errorOf("context_nip")
  return (
    <form
      ref={form}
      className="stack"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault()
        setLeft(true)
        setSubmissions(submissions + 1)
        if (isNip(nip)) mutate(new FormData(event.currentTarget))
      }}
    >
      {isReplacing && (
        <Notice tone="warn">
          <p>{en.credential.replaceMeaning}</p>
        </Notice>
      )}
      {problem !== undefined && <ProblemNotice error={error} />}
      <Group legend={en.credential.kind}>
        <Check
          type="radio"
          name="kind"
          checked={kind === "ksef_token"}
          onChange={() => setKind("ksef_token")}
          hint={en.credential.tokenHint}
        >
          {en.credential.token}
        </Check>
        <Check
          type="radio"
          name="kind"
          checked={kind === "certificate"}
          onChange={() => setKind("certificate")}
          hint={en.credential.certificateHint}
        >
          {en.credential.certificate}
        </Check>
      </Group>
      <Field
        label={en.credential.nip}
        isCode
        inputMode="numeric"
        required
        maxLength={13}
        hint={en.credential.nipHint}
        error={nipFault}
        value={nip}
        onBlur={() => setLeft(true)}
        onChange={(event) => setNip(event.target.value.replaceAll(/[\s-]/g, ""))}
      />
      {kind === "ksef_token" ? (
        <Field
          label={en.credential.token}
          name="token"
          type="password"
          isCode
          required
          autoComplete="off"
          hint={en.credential.writeOnly}
          error={errorOf("token")}
        />
      ) : (
        <>
          <TextArea
            label={en.credential.certificatePem}
            name="certificate"
            isCode
            required
            placeholder="-----BEGIN CERTIFICATE-----"
            error={errorOf("certificate")}
          />
          <TextArea
            label={en.credential.privateKey}
            name="privateKey"
            isCode
            required
            placeholder="-----BEGIN PRIVATE KEY-----"
            hint={en.credential.writeOnly}
            error={errorOf("private_key")}
          />
          <Field
            label={en.credential.privateKeyPassword}
            name="privateKeyPassword"
            type="password"
            autoComplete="off"
            hint={en.credential.passwordHint}
            error={errorOf("private_key_password")}
          />
        </>
      )}
      <div className="line">
        <Button type="submit" kind="primary" busy={isPending}>
          {en.credential.store}
        </Button>
        {isReplacing && <Button onClick={onDone}>{en.cancel}</Button>}
      </div>
    </form>
  )
}
