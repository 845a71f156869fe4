import { texts } from "../text/texts.ts"
import { Icon } from "./Icon.tsx"

/** Links to guides that the server has. Plain links: they leave the console. */
export const guides = {
  live: (
    <a className="line small" href="/docs/guides/live-mode">
      <Icon name="guide" />
      {texts.help.live}
    </a>
  ),
  sandbox: (
    <a className="line small" href="/docs/guides/sandbox">
      <Icon name="guide" />
      {texts.help.sandbox}
    </a>
  ),
  webhooks: (
    <a className="line small" href="/docs/guides/webhooks">
      <Icon name="guide" />
      {texts.help.webhooks}
    </a>
  ),
  console: (
    <a className="line small" href="/docs/guides/console">
      <Icon name="guide" />
      {texts.help.console}
    </a>
  )
} as const
