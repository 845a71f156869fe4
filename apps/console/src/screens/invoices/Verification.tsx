import { useQuery } from "@tanstack/react-query"
import { verificationLinkQuery } from "../../api/queries.ts"
import { en } from "../../text/en.ts"
import { classNames } from "../../ui/classNames.ts"
import { CopyButton } from "../../ui/CopyButton.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { Panel } from "../../ui/Panel.tsx"
import { QrCode } from "./QrCode.tsx"
import styles from "./Invoice.module.css"

const css = classNames(styles)

/** The verification link of an accepted live invoice with its QR code. */
export const Verification = ({ id, org }: { readonly org: string; readonly id: string }) => {
  const verification = useQuery(verificationLinkQuery(org, id))
  return (
    <Panel title={en.invoice.verification}>
      <Loaded query={verification}>
        {({ url }) =>
          url === null ? (
            <p className="muted">{en.invoice.noVerification}</p>
          ) : (
            <div className={css("verification")}>
              <QrCode text={url} label={en.invoice.qrLabel} />
              <div className={css("link")}>
                <p className="muted">{en.invoice.verificationMeaning}</p>
                <p>
                  <code>{url}</code> <CopyButton text={url} label={en.invoice.copyLink} />
                </p>
              </div>
            </div>
          )
        }
      </Loaded>
    </Panel>
  )
}
