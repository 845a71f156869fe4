import type { OwnerNotice, WebhookEndpoint } from "@govoice/client"
import { Link } from "wouter"
import { noticeTexts } from "../../text/notices.ts"
import { texts } from "../../text/texts.ts"
import { paths } from "../../url/paths.ts"
import { EndpointOf } from "../../ui/EndpointName.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { Notice } from "../../ui/Notice.tsx"

const words = noticeTexts[texts.locale.startsWith("pl") ? "pl" : "en"]

const known = [
  "endpoint_failing",
  "endpoint_disabled",
  "credential_expiring",
  "offline_certificate_expiring",
  "token_login_ending"
] as const

const contents = {
  endpoint_failing: ({ since }: OwnerNotice) => (
    <>
      {words.failing} {since !== null && <Instant at={since} whole />}.
    </>
  ),
  endpoint_disabled: ({ since }: OwnerNotice) => (
    <>
      {words.disabled} {since !== null && <Instant at={since} whole />}. {words.repair}
    </>
  ),
  credential_expiring: ({ expiresAt }: OwnerNotice) => (
    <>
      {words.credential} {expiresAt !== null && <Instant at={expiresAt} whole />}. {words.credentialRemedy}
    </>
  ),
  offline_certificate_expiring: ({ expiresAt }: OwnerNotice) => (
    <>
      {words.offline} {expiresAt !== null && <Instant at={expiresAt} whole />}. {words.offlineRemedy}
    </>
  ),
  token_login_ending: () => <>{words.token}</>
}

/** What the owner should know, each with a link to where it is mended unless this is the place. */
const OwnerNotices = ({
  endpoints,
  isHere = false,
  notices,
  org
}: {
  readonly org: string
  readonly notices: ReadonlyArray<OwnerNotice>
  /** The endpoints that notices are about, to name them. */
  readonly endpoints?: ReadonlyArray<WebhookEndpoint> | undefined
  readonly isHere?: boolean
}) =>
  notices.map((notice) => {
    const { endpointId } = notice
    const type = known.find((name) => name === notice.type)
    if (type === undefined) return null
    return (
      <Notice key={`${type} ${endpointId}`} tone={type === "endpoint_disabled" ? "bad" : "warn"}>
        {endpointId !== null && !isHere && (
          <p>
            <EndpointOf id={endpointId} endpoints={endpoints} />
          </p>
        )}
        <p>{contents[type](notice)}</p>
        {!isHere && (
          <p>
            {endpointId === null ? (
              <Link to={paths.live(org)}>{words.toLive}</Link>
            ) : (
              <Link to={paths.endpoint(org, endpointId)}>{words.toEndpoint}</Link>
            )}
          </p>
        )}
      </Notice>
    )
  })

export default OwnerNotices
