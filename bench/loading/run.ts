/**
 * Measures how long a process takes to load the packages that others embed: the client and the webhook verifier, by
 * `import` and by `require`. Builds the two packages first.
 *
 * Prints a report in Markdown, with processor time in milliseconds. Ends with 1 when one takes longer than this part of a peer:
 * the client 0.6 of `svix`, the verifier twice `standardwebhooks`, which has one file without types of events.
 */
import { execFileSync } from "node:child_process"
import { createRequire } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { type Comparison, judge } from "../ratios.ts"
import { inTurn } from "../variants.ts"

const rounds = 21

const root = join(import.meta.dirname, "../..")
const peers = [
  { name: "client", peer: "svix", atMost: 0.6 },
  { name: "webhooks", peer: "standardwebhooks", atMost: 2 }
] as const
const ways = ["import", "require"] as const

type Way = (typeof ways)[number]

const loadOurs = (name: string, way: Way): string => {
  const file = join(root, "packages", name, "dist", way === "import" ? "index.js" : "index.cjs")
  return way === "import" ? `await import("${pathToFileURL(file).href}")` : `require(${JSON.stringify(file)})`
}
const loadPeer = (name: string, way: Way): string => {
  const file = createRequire(import.meta.url).resolve(name)
  return way === "import" ? `await import("${pathToFileURL(file).href}")` : `require(${JSON.stringify(file)})`
}

const processorMs = (load: string): number => {
  const script = `(async () => { const before = process.cpuUsage(); ${load}; console.log(JSON.stringify(process.cpuUsage(before))) })()`
  const used = JSON.parse(execFileSync(process.execPath, ["-e", script], { encoding: "utf8" })) as NodeJS.CpuUsage
  return (used.user + used.system) / 1000
}

const compare = ({ atMost, name, peer }: (typeof peers)[number], way: Way): Comparison => {
  const measured: Array<number> = []
  const beside: Array<number> = []
  const sides = [
    { load: loadOurs(name, way), times: measured },
    { load: loadPeer(peer, way), times: beside }
  ]
  for (let round = 0; round < rounds; round++) {
    for (const { load, times } of inTurn(sides, round)) times.push(processorMs(load))
  }
  return { figure: `\`${way}\` of ${name}, CPU, ms`, measured, reference: peer, beside, atMost }
}

for (const { name } of peers) {
  execFileSync("npx", ["-y", "pnpm@12", "--filter", `@govoice/${name}`, "build"], { cwd: root, stdio: "ignore" })
}
const { exitCode, report } = judge(peers.flatMap((one) => ways.map((way) => compare(one, way))))
console.log(`Node ${process.version}, ${rounds} processes each, in turns.\n\n${report}`)
process.exitCode = exitCode
