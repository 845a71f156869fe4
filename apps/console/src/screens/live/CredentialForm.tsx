import { setGatewayCredential } from "@govoice/client"
import { useState } from "react"
import { connection } from "../../api/connection.ts"
import { texts } from "../../text/texts.ts"
import { Button } from "../../ui/Button.tsx"
import { Check, Field, Group, Select } from "../../ui/Field.tsx"
import { Notice, ProblemNotice } from "../../ui/Notice.tsx"
import { CertificateFields, certificateOf } from "./CertificateFields.tsx"
import { useCertificateForm } from "./useCertificateForm.ts"
import { type ContextType, contextTypes, isContext, tidied } from "./context.ts"
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
  const [chosen, choose] = useState<ContextType>("Nip")
  const [value, setValue] = useState("")
  const [wasLeft, setLeft] = useState(false)
  // KSeF issues no tokens for the others.
  const types = contextTypes.filter((one) => kind === "certificate" || one !== "NipVatUe")
  const type = types.includes(chosen) ? chosen : "Nip"
  const context = { type, value }
  const isRight = isContext(type, value)
  const { count, errorOf, fields, form, isPending, problem, send, submissions } = useCertificateForm({
    store: async (given, picked) =>
      setGatewayCredential(
        connection,
        org,
        kind === "ksef_token"
          ? { type: kind, token: textOf(given, "token").trim(), context }
          : { type: kind, ...(await certificateOf(given, picked)), context }
      ),
    stored: texts.credential.stored,
    onDone
  })
  const contextFault =
    wasLeft && (value !== "" || submissions > 0) && !isRight ? texts.credential.contextFaults[type] : errorOf("context")
  return (
    <form
      ref={form}
      className="stack"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault()
        setLeft(true)
        count()
        if (isRight) send(new FormData(event.currentTarget))
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
      <Select
        label={texts.credential.context}
        value={type}
        onChange={(event) => {
          choose(event.target.value as ContextType)
          setLeft(false)
        }}
      >
        {types.map((one) => (
          <option key={one} value={one}>
            {texts.credential.contexts[one]}
          </option>
        ))}
      </Select>
      <Field
        label={texts.credential.contexts[type]}
        isCode
        inputMode={type === "Nip" ? "numeric" : "text"}
        required
        maxLength={30}
        hint={texts.credential.contextHints[type]}
        error={contextFault}
        value={value}
        onBlur={() => setLeft(true)}
        onChange={(event) => setValue(tidied(type, event.target.value))}
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
