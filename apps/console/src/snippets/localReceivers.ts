/**
 * The start of a server that may send webhooks to receivers on its own computer. A test starts one with these settings.
 */
import type { SnippetForm } from "./SnippetForm.ts"

export const localReceivers: SnippetForm = {
  name: "shell",
  code: `GOVOICE_WEBHOOK_ALLOW_HTTP=true \\
GOVOICE_WEBHOOK_ALLOW_NETWORKS=127.0.0.0/8 \\
npx -y pnpm@12 start
`
}
