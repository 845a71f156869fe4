import { downloadOrganizationUpo, type Invoice } from "@govoice/client"
import { useQuery } from "@tanstack/react-query"
import { connection } from "../../api/connection.ts"
import { credentialQuery } from "../../api/queries.ts"
import { en } from "../../text/en.ts"
import { classNames } from "../../ui/classNames.ts"
import { CopyButton } from "../../ui/CopyButton.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { Panel } from "../../ui/Panel.tsx"
import { QrCode } from "./QrCode.tsx"
import { verificationLink } from "./verification.ts"
import styles from "./Invoice.module.css"

const css = classNames(styles)

/** The verification link of a live invoice with its QR code. */
export const Verification = ({ invoice, org }: { readonly org: string; readonly invoice: Invoice }) => {
  const credential = useQuery(credentialQuery(org))
  const upo = useQuery({
    queryKey: ["organizations", org, "invoice", invoice.id, "upo"],
    queryFn: async () => (await downloadOrganizationUpo(connection, org, invoice.id)).text(),
    staleTime: Infinity
  })
  return (
    <Panel title={en.invoice.verification}>
      <Loaded query={upo}>
        {(xml) => {
          const link = verificationLink(xml, credential.data?.environment ?? null)
          if (link === undefined) return <p className="muted">{en.invoice.noVerification}</p>
          return (
            <div className={css("verification")}>
              <QrCode text={link} label={en.invoice.qrLabel} />
              <div className={css("link")}>
                <p className="muted">{en.invoice.verificationMeaning}</p>
                <p>
                  <a href={link} rel="noreferrer noopener" target="_blank">
                    {link}
                  </a>{" "}
                  <CopyButton text={link} label={en.invoice.copyLink} />
                </p>
              </div>
            </div>
          )
        }}
      </Loaded>
    </Panel>
  )
}
