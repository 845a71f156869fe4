/**
 * Installs the KSeF simulator from its tarball into an empty project, and sends a document through it: by its command, and
 * by each kind of module.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Client } from "../../packages/ksef-simulator/test/support/Client.ts"
import { fa3 } from "../../packages/ksef-simulator/test/support/invoices.ts"
import { isNewNode, makeProject, node, type Project } from "./support/project.ts"

interface Started {
  readonly url: string
  readonly nip: string
  readonly token: string
}

const program = (load: string): string =>
  `${load}.then(async ({ startSimulator }) => {
    const { nip, token, url } = await startSimulator({ processingMs: 0 })
    console.log(JSON.stringify({ nip, token, url }))
  })`

describe("@govoice/ksef-simulator", () => {
  let project: Project
  const running = new Set<ChildProcess>()
  const command = () => join(project.folder, "node_modules/@govoice/ksef-simulator/dist/cli.js")

  beforeAll(() => {
    project = makeProject({
      packages: ["@govoice/ksef-simulator"],
      tools: ["typescript", "@types/node"],
      type: "module"
    })
    project.write("main.mjs", program('import("@govoice/ksef-simulator")'))
    project.write("main.cjs", program('Promise.resolve(require("@govoice/ksef-simulator"))'))
  })
  afterAll(() => {
    for (const child of running) child.kill("SIGKILL")
    project?.remove()
  })

  const start = async (args: ReadonlyArray<string>): Promise<Started> => {
    const child = spawn(node, args, { cwd: project.folder, stdio: ["ignore", "pipe", "inherit"] })
    running.add(child)
    const [line] = (await once(child.stdout, "data")) as [Buffer]
    return JSON.parse(line.toString("utf8")) as Started
  }

  it.skipIf(isNewNode)("says which Node it needs on an older one", () => {
    const { status, stderr } = spawnSync(node, [command()], { encoding: "utf8" })
    assert.strictEqual(status, 1)
    assert.match(stderr, /^Node [\d.]+ is too old: >=22\.19 is required\. Install a newer Node\.\n$/)
  })

  it.skipIf(!isNewNode).each([
    ["its command", () => [command(), "--processing", "0"]],
    ["import", () => ["main.mjs"]],
    ["require", () => ["main.cjs"]]
  ])("started by %s, judges a document by the schemas that it brings, and writes its UPO", async (_, args) => {
    const simulator = await start(args())
    const client = await Client.login(simulator)
    const session = await client.open()
    const invoice = await client.submit(session, fa3({ seller: simulator.nip }))
    assert.strictEqual(invoice.status.code, 200, JSON.stringify(invoice.status))
    const wrong = fa3({ seller: simulator.nip, number: "2" }).replace("<P_15>123.00</P_15>", "")
    assert.strictEqual((await client.submit(session, wrong)).status.code, 450)
    const upo = await client.call("GET", `/sessions/${session.reference}/invoices/${invoice.referenceNumber}/upo`)
    assert.include(upo.text, invoice.ksefNumber!)
  })

  it.skipIf(!isNewNode)("has a command with a version and a help", () => {
    const { version } = JSON.parse(
      readFileSync(join(project.folder, "node_modules/@govoice/ksef-simulator/package.json"), "utf8")
    ) as { readonly version: string }
    assert.strictEqual(project.run(command(), "--version"), `${version}\n`)
    assert.match(project.run(command(), "--help"), /^Usage: govoice-ksef-simulator \[options\]\n/)
  })

  it("compiles in a strict project, from what it installs alone", () => {
    project.write(
      "program.ts",
      `import { type Fault, startSimulator } from "@govoice/ksef-simulator"
const fault: Fault = { do: "drop-after", on: "sendInvoice" }
const simulator = await startSimulator({ faults: [fault] })
const accepted: ReadonlyArray<{ readonly ksefNumber: string }> = simulator.ledger.accepted()
// @ts-expect-error no such fault
simulator.faults.add({ do: "nothing" })
export { accepted }
await simulator.close()
`
    )
    const compilerOptions = {
      target: "ES2022",
      lib: ["ES2024", "ESNext.Disposable"],
      module: "NodeNext",
      types: ["node"]
    }
    const strict = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true }
    project.write(
      "tsconfig.json",
      JSON.stringify({ compilerOptions: { ...compilerOptions, ...strict }, files: ["program.ts"] })
    )
    assert.strictEqual(project.run("node_modules/typescript/bin/tsc", "-p", "."), "")
  })

  it("brings the notices of what it bundles, and installs its own dependencies alone", () => {
    const installed = join(project.folder, "node_modules/@govoice/ksef-simulator")
    const notices = readFileSync(join(installed, "dist/THIRD-PARTY-NOTICES.md"), "utf8")
    for (const name of ["effect", "saxes", "Files in data, of the Ministry of Finance"]) {
      assert.include(notices, `## ${name}`)
    }
    for (const file of ["LICENSE", "dist/data/open-api-2.7.0.json", "dist/data/xsd"]) {
      assert.isTrue(existsSync(join(installed, file)), file)
    }
    const names = readdirSync(join(project.folder, "node_modules/.pnpm")).map((name) => name.replace(/(.)@.*/, "$1"))
    for (const name of ["ajv", "libxml2-wasm", "yauzl"]) assert.include(names, name)
    for (const name of ["effect", "ksef-client", "ksef-client-ts"]) assert.notInclude(names, name)
  })
})
