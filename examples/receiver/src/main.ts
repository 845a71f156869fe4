/**
 * Runs the receiver and prints one line for each event: `WEBHOOK_SECRET=whsec_… npm start`. Separate two secrets by a
 * comma during a rotation. The defaults are `PORT=4000` and `DATA_DIR=.webhooks`.
 */
import { startReceiver } from "./index.ts"

const { WEBHOOK_SECRET, PORT = "4000", DATA_DIR = ".webhooks" } = process.env
if (!WEBHOOK_SECRET) {
  console.error("WEBHOOK_SECRET is not set. The secret is shown once, when the webhook endpoint is created.")
  process.exit(1)
}

const receiver = await startReceiver({
  secrets: WEBHOOK_SECRET.split(","),
  port: Number(PORT),
  dataDir: DATA_DIR,
  onWebhook: ({ id, timestamp, event }) => console.log(`${timestamp.toISOString()} ${id} ${event.type}`)
})
console.log(`Listening on ${receiver.url}`)

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void receiver.close())
