/**
 * Measures how long a process takes to load the packages that others embed: the client and the webhook verifier, by
 * `import` and by `require`. Builds the two packages first.
 *
 * Prints a report in Markdown, with processor time in milliseconds. Ends with 1 when a package takes more than 8 ms at the
 * median.
 */
import { execFileSync } from "node:child_process"
import { join } from "node:path"

const goalMs = 8
const rounds = 21

const root = join(import.meta.dirname, "../..")
const packages = ["client", "webhooks"]

const loads = (folder: string): Readonly<Record<string, string>> => ({
  import: `await import(${JSON.stringify(`file://${join(folder, "index.js")}`)})`,
  require: `require(${JSON.stringify(join(folder, "index.cjs"))})`,
  nothing: ""
})

const processorMs = (load: string): number => {
  const script = `(async () => { const before = process.cpuUsage(); ${load}; console.log(JSON.stringify(process.cpuUsage(before))) })()`
  const used = JSON.parse(execFileSync(process.execPath, ["-e", script], { encoding: "utf8" })) as NodeJS.CpuUsage
  return (used.user + used.system) / 1000
}

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

for (const name of packages) {
  execFileSync("npx", ["-y", "pnpm@12", "--filter", `@govoice/${name}`, "build"], { cwd: root, stdio: "ignore" })
}

console.log(`Node ${process.version}, the median of ${rounds} processes each.\n`)
console.log("| package | way | ms |")
console.log("| --- | --- | ---: |")
for (const name of packages) {
  for (const [way, load] of Object.entries(loads(join(root, "packages", name, "dist")))) {
    const ms = median(Array.from({ length: rounds }, () => processorMs(load)))
    console.log(`| ${name} | ${way} | ${ms.toFixed(1)} |`)
    if (ms > goalMs) process.exitCode = 1
  }
}
