import { setGatewayCredential } from "@govoice/client"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { connection } from "../../api/connection.ts"
import { texts } from "../../text/texts.ts"
import { Button } from "../../ui/Button.tsx"
import { Check, Field, Group } from "../../ui/Field.tsx"
import { Notice, ProblemNotice } from "../../ui/Notice.tsx"
import { toast } from "../../ui/Toasts.tsx"
import { CertificateFields, certificateOf, FileFault, type PickedFile } from "./CertificateFields.tsx"
import { isNip } from "./nip.ts"
import { fieldErrors } from "../../ui/problems.ts"
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
  const [kind, setKind] = useState<Kind>("certificate")
  const [picked, setPicked] = useState<PickedFile>(undefined)
  const [nip, setNip] = useState("")
  const [wasLeft, setLeft] = useState(false)
  const [submissions, setSubmissions] = useState(0)
  const { error, isPending, mutate } = useMutation({
    mutationFn: async (form: FormData) =>
      setGatewayCredential(
        connection,
        org,
        kind === "ksef_token"
          ? { type: kind, token: textOf(form, "token").trim(), contextNip: nip }
          : { type: kind, ...(await certificateOf(form, picked)), contextNip: nip }
      ),
    gcTime: 0,
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ["organizations"] })
      toast(texts.credential.stored)
      onDone()
    }
  })
  const errors = fieldErrors(error, ["context_nip", "token", "certificate", "private_key", "private_key_password"])
  const form = useFaultFocus(submissions, error)
  const nipFault =
    wasLeft && (nip !== "" || submissions > 0) && !isNip(nip) ? texts.credential.nipFault : errors.of("context_nip")
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
          <p>{texts.credential.replaceMeaning}</p>
        </Notice>
      )}
      {errors.rest !== null && !(error instanceof FileFault) && <ProblemNotice error={errors.rest} />}
      <Group legend={texts.credential.kind}>
        <Check
          type="radio"
          name="kind"
          checked={kind === "certificate"}
          onChange={() => setKind("certificate")}
          hint={texts.credential.certificateHint}
        >
          {texts.credential.certificate}
        </Check>
        <Check
          type="radio"
          name="kind"
          checked={kind === "ksef_token"}
          onChange={() => setKind("ksef_token")}
          hint={texts.credential.tokenHint}
        >
          {texts.credential.token}
        </Check>
      </Group>
      <Field
        label={texts.credential.nip}
        isCode
        inputMode="numeric"
        required
        maxLength={13}
        hint={texts.credential.nipHint}
        error={nipFault}
        value={nip}
        onBlur={() => setLeft(true)}
        onChange={(event) => setNip(event.target.value.replaceAll(/[\s-]/g, ""))}
      />
      {kind === "ksef_token" ? (
        <Field
          label={texts.credential.token}
          name="token"
          type="password"
          isCode
          required
          autoComplete="off"
          hint={texts.credential.writeOnly}
          error={errors.of("token")}
        />
      ) : (
        <CertificateFields
          certificate={texts.credential.certificatePem}
          privateKey={texts.credential.privateKey}
          errorOf={errors.of}
          fileFault={error instanceof FileFault ? error.message : undefined}
          picked={picked}
          onPick={setPicked}
        />
      )}
      <div className="line">
        <Button type="submit" kind="primary" busy={isPending}>
          {texts.credential.store}
        </Button>
        {isReplacing && <Button onClick={onDone}>{texts.cancel}</Button>}
      </div>
    </form>
  )
}
