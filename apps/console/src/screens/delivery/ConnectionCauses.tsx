import { reach } from "../../snippets/reach.ts"
import { texts } from "../../text/texts.ts"
import { classNames } from "../../ui/classNames.ts"
import { Snippet } from "../../ui/Snippet.tsx"
import styles from "./ConnectionCauses.module.css"

const css = classNames(styles)

/**
 * How to tell the causes of a connection that failed. Records have one sentence for all of them, so that an owner cannot map
 * the network of the deployment.
 */
export const ConnectionCauses = ({ url }: { readonly url: string }) => {
  const { addresses, ofTls } = texts.connectionCauses
  const causes = url.startsWith("https:") ? [...ofTls, ...addresses] : addresses
  return (
    <>
      <p>{texts.connectionCauses.how}</p>
      <Snippet label={texts.connectionCauses.snippet} forms={[reach(url)]} />
      <dl className={css("causes")}>
        {causes.map(({ output, remedy }) => (
          <div key={output}>
            <dt>
              <code>{output}</code>
            </dt>
            <dd>{remedy}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}
