/** An SMTP server with the mails that it received. */
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { SMTPServer } from "smtp-server"
import { patienceMs } from "./patienceMs.ts"

export interface Mailbox {
  /** The mails, whole, each with its recipients. */
  readonly mails: ReadonlyArray<{ readonly to: ReadonlyArray<string>; readonly text: string }>
  /** The settings of a server that sends by it. */
  readonly settings: Readonly<Record<string, string>>
  /** Makes it refuse every mail for a while, or accept them again. */
  refuse: boolean
  /** Waits until it has received so many. */
  readonly until: (count: number) => Promise<void>
  readonly close: () => Promise<void>
}

// The lines of a quoted-printable text are whole again.
const decode = (raw: string): string =>
  raw
    .replaceAll("=\r\n", "")
    .replaceAll(/(?:=[0-9A-F]{2})+/g, (bytes) => Buffer.from(bytes.replaceAll("=", ""), "hex").toString())

/** Opens it on a port of this machine. */
export const openMailbox = async (): Promise<Mailbox> => {
  const mails: Array<{ to: ReadonlyArray<string>; text: string }> = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData: (stream, session, done) => {
      let text = ""
      stream.on("data", (chunk: Buffer) => (text += chunk.toString()))
      stream.on("end", () => {
        if (mailbox.refuse) return done(new Error("Mailbox unavailable"))
        mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text: decode(text) })
        done()
      })
    }
  })
  server.listen(0, "127.0.0.1")
  await once(server.server, "listening")
  const { port } = server.server.address() as AddressInfo
  const mailbox: Mailbox = {
    mails,
    settings: { GOVOICE_SMTP_URL: `smtp://127.0.0.1:${port}`, GOVOICE_MAIL_FROM: "govoice@example.com" },
    refuse: false,
    until: async (count) => {
      const deadline = Date.now() + patienceMs
      while (mails.length < count) {
        if (Date.now() > deadline) throw new Error(`${mails.length} mails arrived, expected ${count}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
    close: () => new Promise((resolve) => server.close(() => resolve()))
  }
  return mailbox
}
