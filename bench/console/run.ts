/**
 * Measures the console with 100,000 deliveries of one endpoint and 95,000 of 19 others: the lists of the control plane, and the
 * screens in Chromium.
 *
 * Prints a report in Markdown, and exits with 1 when a target is missed. `BENCH_DELIVERIES`, `BENCH_CALLS`, `BENCH_LOADS` and
 * `BENCH_PAGES` change how much is measured.
 */
import { cpus, loadavg } from "node:os"
import { startDatabase } from "../engine/database.ts"
import { deploy } from "./deployment.ts"
import { measureLists } from "./lists.ts"
import { measureScreens } from "./screens.ts"

const count = Number(process.env["BENCH_DELIVERIES"] ?? 100_000)
const targets = { list: 30, cold: 600, warm: 250, next: 120, longestTask: 50, grown: 10 }

const missed: Array<string> = []
const within = (name: string, measured: number, target: number): string => {
  if (measured > target) missed.push(`${name}: ${measured.toFixed(1)}, at most ${target}`)
  return `${measured.toFixed(1)} | ${target}`
}

const before = loadavg()[0]!
const database = await startDatabase()
const deployment = await deploy(database, count)
try {
  const screens = await measureScreens(deployment)
  const lists = await measureLists(deployment)
  console.log(`# The console

Node ${process.versions.node}, Postgres 18, ${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}, shared by server, database, browser and load. ${count.toLocaleString("en")}
deliveries of one endpoint in seven days, and a twentieth of that of each of 19 others. The load average was ${before.toFixed(1)} before and ${loadavg()[0]!.toFixed(1)} after.

| in the browser | measured | at most |
| --- | ---: | ---: |
| cold load to the first data of the overview, ms | ${within("cold load", screens.cold, targets.cold)} |
| warm load to the first data of the overview, ms | ${within("warm load", screens.warm, targets.warm)} |
| from page 1 to the next, painted, ms | ${within("next page", screens.next, targets.next)} |
| from page 1,000 to the next, painted, ms | ${within("next page after 1,000", screens.nextOfThousandth, targets.next)} |
| longest task, ms | ${within("longest task", screens.longestTask, targets.longestTask)} |
| memory after the pages beside before, MiB | ${within("memory", screens.grown, targets.grown)} |

| a page of 50 of the API | p50, ms | p95, ms | at most |
| --- | ---: | ---: | ---: |
${lists.map(({ name, p50, p95 }) => `| ${name} | ${p50.toFixed(1)} | ${within(name, p95, targets.list)} |`).join("\n")}

${missed.length === 0 ? "Targets met." : `Targets missed:\n\n${missed.map((line) => `- ${line}`).join("\n")}`}`)
} finally {
  await deployment.stop()
  await database.stop()
}
process.exit(missed.length === 0 ? 0 : 1)
