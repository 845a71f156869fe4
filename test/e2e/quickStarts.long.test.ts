/** Runs each block of the pages of the roles and of the tour, as a reader copies them, twice and in any order. */
import { spawnSync } from "node:child_process"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { freePort } from "../support/freePort.ts"
import { builtCommand } from "./support/build.ts"
import { openEmpty } from "./support/databases.ts"
import { type Block, blocksOf, commandOf, makeDesk } from "./support/quickStart.ts"
import { type Server, startServer } from "./support/server.ts"

const has = (command: string): boolean => spawnSync(command, ["--version"]).error === undefined
const canPaste = has("bash") && has("curl")
if (!canPaste) console.warn("SKIPPED: the pages of the roles need bash and curl, which this machine lacks")

const isTour = ({ text }: Block): boolean => text.startsWith("export GOVOICE_URL=")
const pageOf = (role: string) => blocksOf(`docs/guides/${role}.md`)
const tour = pageOf("integrators").filter(isTour)
// The tests have a server of their own.
const integration = pageOf("integrators").filter((block) => !isTour(block) && !block.text.startsWith("npx "))

const scriptOf = (blocks: ReadonlyArray<Block>) => blocks.map(commandOf).join("\n")

describe.skipIf(!canPaste)("the pages of the roles", () => {
  let desk: ReturnType<typeof makeDesk>
  let server: Server
  let receiverPort: number
  beforeAll(async () => {
    desk = makeDesk(await builtCommand())
    receiverPort = await freePort()
    server = await startServer({
      GOVOICE_DATA_DIR: "memory",
      GOVOICE_WEBHOOK_ALLOW_HTTP: "true",
      GOVOICE_WEBHOOK_ALLOW_NETWORKS: "127.0.0.0/8",
      GOVOICE_RETRY_SCHEDULE_MS: "200,200,200,200,200,200,200,200,200,200"
    })
  })
  afterAll(async () => {
    await server?.stop()
    desk?.remove()
  })

  const run = (script: string, settings: Readonly<Record<string, string>> = {}) =>
    desk.run(
      script
        .replaceAll("http://127.0.0.1:3000", server.url)
        .replaceAll("127.0.0.1:4000", `127.0.0.1:${receiverPort}`)
        .replaceAll('listen(4000, "', `listen(${receiverPort}, "`),
      settings
    )

  const takeTour = async () => {
    const { status, stderr, stdout } = await run(scriptOf(tour))
    assert.deepStrictEqual({ status, stderr }, { status: 0, stderr: "" })
    const lines = stdout.split("\n")
    assert.isTrue(lines.some((line) => line.startsWith('{"id":"inv_') && line.includes('"status":"accepted"')))
    assert.match(stdout, /<Potwierdzenie[^]*>\n+$/, "the output ends with the receipt and a line end")
    assert.match(stdout, /<NumerFaktury>FV\/1<\/NumerFaktury>/, "the receipt has the number of the invoice")
  }

  const integrate = async () => {
    const { status, stderr, stdout } = await run(scriptOf(integration))
    assert.deepStrictEqual({ status, stderr }, { status: 0, stderr: "" })
    assert.match(stdout, /^queued\n(?:submitt\w+\n)*accepted\n\d{10}-\d{8}-[0-9A-F-]+\n$/)
  }

  const receive = async () => {
    const blocks = pageOf("receivers")
    const serve = blocks.findIndex(({ text }) => text.includes("npx -y @govoice/server serve"))
    assert.match(blocks[serve]!.text, /^GOVOICE_WEBHOOK_ALLOW_HTTP=true GOVOICE_WEBHOOK_ALLOW_NETWORKS=127.0.0.0\/8 /)
    const script = [
      ...blocks.slice(0, serve),
      { language: "sh", text: "node try.mts\n", saveAs: undefined },
      ...tour,
      ...blocks.slice(serve + 1).map((block) =>
        // The output of the receiver shows when all events have arrived.
        ({ ...block, text: block.text.replace("node receiver.mts &", "node receiver.mts > received.txt &") })
      ),
      {
        language: "sh",
        text: "until [ \"$(grep -c '^evt_' received.txt)\" -ge 4 ]; do sleep 0.1; done; cat received.txt\n",
        saveAs: undefined
      }
    ]
    const { status, stderr, stdout } = await run(scriptOf(script))
    assert.deepStrictEqual({ status, stderr }, { status: 0, stderr: "" })
    assert.match(stdout, /^invoice\.accepted\n204\n/)
    for (const type of ["received", "submitted", "accepted", "upo_available"])
      assert.match(stdout, new RegExp(`^evt_\\w+ invoice\\.${type}$`, "m"))
    assert.match(stdout, /"object":"webhook_delivery"/)
  }

  it("of integrators and receivers and the tour run in any order, and again", async () => {
    await takeTour()
    await integrate()
    await receive()
    await integrate()
    await takeTour()
    await receive()
  })

  it("tell an empty API key in words", async () => {
    const blocks = integration.filter(({ text }) => !text.includes("$(node key.mts)"))
    const { status, stderr } = await run(scriptOf(blocks), { GOVOICE_API_KEY: "" })
    assert.notStrictEqual(status, 0)
    assert.include(stderr, "apiKey is empty: is GOVOICE_API_KEY set?")
    const lost = await run(scriptOf(tour).replace('"name":"Example"', '"nom":"Example"'))
    assert.notStrictEqual(lost.status, 0)
    assert.match(lost.stderr, /ORG: no organization/)
  })

  it("of embedders sends, and tells the outcome in words", async () => {
    const script = scriptOf(pageOf("embedders")).replaceAll("https://example.com", "https://example.invalid")
    const { status, stderr, stdout } = await run(`${script}\nnode send.mts`)
    assert.deepStrictEqual({ status, stderr }, { status: 0, stderr: "" })
    assert.match(stdout, /^\S.+ Retry later\.\n$/)
  })

  it("of operators starts a server twice, on the embedded database and on Postgres", async () => {
    const database = await openEmpty()
    try {
      const script = scriptOf(pageOf("operators")).replace(
        /postgres:\/\/\S+?'/,
        `${database.settings["DATABASE_URL"]}'`
      )
      const { status, stderr, stdout } = await run(`mkdir -p operator && cd operator\n${script}`, {
        PORT: String(await freePort()),
        NODE_OPTIONS: ""
      })
      assert.strictEqual(status, 0, `${stdout}\n${stderr}`)
      assert.match(stdout, /sk_test_\w{41}/)
      assert.notMatch(stdout, /FAIL/)
    } finally {
      await database.drop()
    }
  })
})
