import { useState } from "react"
import { texts } from "../../text/texts.ts"
import { Field, TextArea } from "../../ui/Field.tsx"
import { textOf } from "../../ui/form.ts"
import { type CertificateAndKey, Pkcs12Error, readPkcs12 } from "./Pkcs12.ts"

/** A file in PKCS#12 that was picked. It is read with the form, when its password is known. */
export type PickedFile = { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> } | undefined

/** Why a file that was picked was not read. */
export class FileFault extends Error {}

/** Returns what the fields of a form have. Fails with `FileFault`. */
export const certificateOf = async (
  form: FormData,
  picked: PickedFile
): Promise<CertificateAndKey & { readonly privateKeyPassword: string | null }> => {
  const text = (name: string) => textOf(form, name).trim()
  const password = text("privateKeyPassword")
  try {
    const pair =
      picked === undefined
        ? { certificate: text("certificate"), privateKey: text("privateKey") }
        : await readPkcs12(picked.bytes, password)
    const isEncrypted = pair.privateKey.includes("ENCRYPTED")
    return { ...pair, privateKeyPassword: picked !== undefined && !isEncrypted ? null : password || null }
  } catch (error) {
    throw error instanceof Pkcs12Error ? new FileFault(texts.certificateFile.faults[error.reason]) : error
  }
}

// The blocks of a text in PEM, by what they are.
const blocks = (text: string, kind: RegExp): string =>
  Array.from(text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----[^]*?-----END \1-----/g))
    .filter(([, label = ""]) => kind.test(label))
    .map(([block]) => `${block}\n`)
    .join("")

/** The fields for a certificate and its private key, which can be read from files: in PEM, or one in PKCS#12. */
export const CertificateFields = ({
  certificate,
  errorOf,
  fileFault,
  onPick,
  picked,
  privateKey
}: {
  /** Label of the certificate. */
  readonly certificate: string
  /** Label of the private key. */
  readonly privateKey: string
  readonly errorOf: (name: "certificate" | "private_key" | "private_key_password") => string | undefined
  /** Why the file was not read. */
  readonly fileFault: string | undefined
  readonly picked: PickedFile
  readonly onPick: (file: PickedFile) => void
}) => {
  const [pems, setPems] = useState({ certificate: "", privateKey: "" })
  const pick = async (files: FileList | null) => {
    const found = { certificate: "", privateKey: "" }
    let pkcs12: PickedFile
    for (const file of Array.from(files ?? [])) {
      const bytes = new Uint8Array(await file.arrayBuffer())
      const text = new TextDecoder().decode(bytes)
      found.certificate += blocks(text, /^CERTIFICATE$/)
      found.privateKey += blocks(text, /PRIVATE KEY$/)
      if (!text.includes("-----BEGIN ")) pkcs12 = { name: file.name, bytes }
    }
    onPick(pkcs12)
    setPems((before) => ({
      certificate: found.certificate || before.certificate,
      privateKey: found.privateKey || before.privateKey
    }))
  }
  return (
    <>
      <Field
        label={texts.certificateFile.label}
        type="file"
        multiple
        accept=".pem,.crt,.cer,.key,.p12,.pfx"
        hint={texts.certificateFile.hint}
        error={fileFault}
        onChange={(event) => void pick(event.target.files)}
      />
      {picked === undefined && (
        <>
          <TextArea
            label={certificate}
            name="certificate"
            isCode
            required
            placeholder="-----BEGIN CERTIFICATE-----"
            error={errorOf("certificate")}
            value={pems.certificate}
            onChange={(event) => setPems({ ...pems, certificate: event.target.value })}
          />
          <TextArea
            label={privateKey}
            name="privateKey"
            isCode
            required
            placeholder="-----BEGIN PRIVATE KEY-----"
            hint={texts.credential.writeOnly}
            error={errorOf("private_key")}
            value={pems.privateKey}
            onChange={(event) => setPems({ ...pems, privateKey: event.target.value })}
          />
        </>
      )}
      <Field
        label={picked === undefined ? texts.credential.privateKeyPassword : texts.certificateFile.password(picked.name)}
        name="privateKeyPassword"
        type="password"
        autoComplete="off"
        hint={texts.credential.passwordHint}
        error={errorOf("private_key_password") ?? (picked && (errorOf("certificate") ?? errorOf("private_key")))}
      />
    </>
  )
}
