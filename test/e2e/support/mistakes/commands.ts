/** Mistakes with the `govoice` command, each in a process. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { once } from "node:events"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ServerProcess } from "../../../support/serverProcess.ts"
import { freePort } from "../../../support/freePort.ts"
import { builtCommand } from "../build.ts"
import { startAndFail } from "../server.ts"
import type { Mistake } from "./Mistake.ts"

interface Database {
  readonly settings: Readonly<Record<string, string>>
}

// Errors of a command line come after the help of the command, of which the first words are enough.
const essence = (text: string): string =>
  text.trim().replace(/^DESCRIPTION\n[^]*?\n(?=ERROR\n)/, "(help of the command)\n")

const run = async (...args: ReadonlyArray<string>): Promise<string> => {
  const command = new ServerProcess([await builtCommand(), ...args], {})
  const code = await command.exited
  if (code === 0) throw new Error(`govoice ${args.join(" ")} succeeded:\n${command.text}`)
  return essence(`${command.stdout}\n${command.stderr}`)
}

const start = async (settings: Readonly<Record<string, string>>): Promise<string> => {
  const { exitCode, output } = await startAndFail({ GOVOICE_DATABASE_WAIT_MS: "0", ...settings })
  if (exitCode === 0) throw new Error("The server started")
  return essence(output)
}

const withFolder = async (use: (folder: string) => Promise<string>): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "govoice-mistakes-"))
  try {
    return (await use(folder)).replaceAll(folder, "")
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const urlWith = ({ settings }: Database, change: (url: URL) => void): Readonly<Record<string, string>> => {
  const url = new URL(settings["DATABASE_URL"]!)
  change(url)
  return { ...settings, DATABASE_URL: url.href }
}

export const commandMistakes = (database: () => Database): ReadonlyArray<Mistake> => [
  { title: "A command that does not exist", see: () => run("start") },
  { title: "A misspelled option", see: () => run("check-invoice", "--enviroment", "test", "invoice.xml") },
  { title: "A setting as an option", see: () => run("serve", "--port", "3005") },
  { title: "`account create` without an email", see: () => run("account", "create") },
  {
    title: "A file that does not exist, and a PDF, to `check-invoice`",
    see: () =>
      withFolder((folder) => {
        const pdf = join(folder, "invoice.pdf")
        writeFileSync(pdf, Buffer.from("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "latin1"))
        return run("check-invoice", join(folder, "invoice.xml"), pdf)
      })
  },
  {
    title: "A port that another process uses",
    see: async () => {
      const other = createServer().listen(0, "127.0.0.1")
      await once(other, "listening")
      const address = other.address()
      try {
        return await start({ ...database().settings, PORT: String(typeof address === "object" && address?.port) })
      } finally {
        other.close()
      }
    }
  },
  {
    title: "A database that does not run",
    see: async () => {
      const port = await freePort()
      return start(urlWith(database(), (url) => (url.port = String(port))))
    }
  },
  {
    title: "A wrong password of the database",
    see: () => start(urlWith(database(), (url) => (url.password = "wrong")))
  },
  {
    title: "A database that was not created",
    see: () => start(urlWith(database(), (url) => (url.pathname = "/of_nobody")))
  }
]
