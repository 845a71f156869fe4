import { setGatewayCredential } from "@govoice/client"
import { useState } from "react"
import { connection } from "../../api/connection.ts"
import { texts } from "../../text/texts.ts"
import { Button } from "../../ui/Button.tsx"
import { Check, Field, Group } from "../../ui/Field.tsx"
import { Notice, ProblemNotice } from "../../ui/Notice.tsx"
import { CertificateFields, certificateOf } from "./CertificateFields.tsx"
import { useCertificateForm } from "./useCertificateForm.ts"
import { isNip } from "./nip.ts"
import { textOf } from "../../ui/form.ts"

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
  const [kind, setKind] = useState<Kind>("certificate")
  const [nip, setNip] = useState("")
  const [wasLeft, setLeft] = useState(false)
  const { count, errorOf, fields, form, isPending, problem, send, submissions } = useCertificateForm({
    store: async (given, picked) =>
      setGatewayCredential(
        connection,
        org,
        kind === "ksef_token"
          ? { type: kind, token: textOf(given, "token").trim(), contextNip: nip }
          : { type: kind, ...(await certificateOf(given, picked)), contextNip: nip }
      ),
    stored: texts.credential.stored,
    onDone
  })
  const nipFault =
    wasLeft && (nip !== "" || submissions > 0) && !isNip(nip) ? texts.credential.nipFault : errorOf("context_nip")
  return (
    <form
      ref={form}
      className="stack"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault()
        setLeft(true)
        count()
        if (isNip(nip)) send(new FormData(event.currentTarget))
      }}
    >
      {isReplacing && (
        <Notice tone="warn">
          <p>{texts.credential.replaceMeaning}</p>
        </Notice>
      )}
      {problem !== null && <ProblemNotice error={problem} />}
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
          error={errorOf("token")}
        />
      ) : (
        <CertificateFields
          certificate={texts.credential.certificatePem}
          privateKey={texts.credential.privateKey}
          {...fields}
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
