import { downloadOrganizationQr, type Invoice } from "@govoice/client"
import { connection } from "../../api/connection.ts"
import { texts } from "../../text/texts.ts"
import { classNames } from "../../ui/classNames.ts"
import { CopyButton } from "../../ui/CopyButton.tsx"
import { Panel } from "../../ui/Panel.tsx"
import { Download } from "./Download.tsx"
import { QrCode } from "./QrCode.tsx"
import styles from "./Invoice.module.css"

const css = classNames(styles)

interface Props {
  readonly org: string
  readonly id: string
  readonly code: 1 | 2
  readonly url: string
  /** The text that is printed below the code. */
  readonly caption: string
  readonly label: string
  readonly meaning: string
}

const Code = ({ caption, code, id, label, meaning, org, url }: Props) => (
  <div className={css("verification")}>
    <figure className={css("code")}>
      <QrCode text={url} label={label} />
      <figcaption>{caption}</figcaption>
    </figure>
    <div className={css("link")}>
      <p className="muted">{meaning}</p>
      <p>
        <code>{url}</code> <CopyButton text={url} label={texts.invoice.copyLink} />
      </p>
      <div className={css("downloads")}>
        {(["svg", "png"] as const).map((format) => (
          <Download
            key={format}
            label={texts.invoice.downloadQr(format.toUpperCase())}
            name={`qr-${code}-${id}.${format}`}
            read={() => downloadOrganizationQr(connection, org, id, { code, format })}
          />
        ))}
      </div>
    </div>
  </div>
)

/** The codes that the seller prints on the invoice, with their labels. */
export const Verification = ({
  certificateUrl,
  id,
  label,
  org,
  url
}: NonNullable<Invoice["verification"]> & { readonly org: string; readonly id: string }) => (
  <>
    <Panel title={texts.invoice.verification}>
      <Code
        org={org}
        id={id}
        code={1}
        url={url}
        caption={label}
        label={texts.invoice.qrLabel}
        meaning={texts.invoice.verificationMeaning}
      />
    </Panel>
    {certificateUrl !== null && (
      <Panel title={texts.invoice.certificateCode}>
        <Code
          org={org}
          id={id}
          code={2}
          url={certificateUrl}
          caption="CERTYFIKAT"
          label={texts.invoice.certificateQrLabel}
          meaning={texts.invoice.certificateCodeMeaning}
        />
      </Panel>
    )}
  </>
)
