/**
 * Measures the console with 100,000 deliveries of one endpoint and 95,000 of 19 others: the lists of the control plane, and the
 * screens in Chromium.
 *
 * Prints a report in Markdown, and exits with 1 when a ratio misses its goal: loads are judged beside the fetch of the same files
 * and data by the same browser, lists beside the lookup of one record, page 1,000 beside page 1. `BENCH_DELIVERIES`,
 * `BENCH_CALLS`, `BENCH_LOADS` and `BENCH_PAGES` change how much is measured.
 */
import { cpus, loadavg } from "node:os"
import { startDatabase } from "../engine/database.ts"
import { judge, median } from "../ratios.ts"
import { deploy } from "./deployment.ts"
import { measureLists } from "./lists.ts"
import { measureScreens } from "./screens.ts"

const longest = (ms: number): string => (ms === 0 ? "none over 50 ms" : `${ms.toFixed(0)} ms`)

const count = Number(process.env["BENCH_DELIVERIES"] ?? 100_000)
const before = loadavg()[0]!
const database = await startDatabase()
const deployment = await deploy(database, count)
try {
  const screens = await measureScreens(deployment)
  const { lists, lookUp } = await measureLists(deployment)
  const { exitCode, report } = judge([
    ...screens.loads.flatMap(({ cold, fetched, language, warm }) => {
      const alone = { reference: "its files and data, fetched alone", beside: fetched }
      return [
        { figure: `cold load to the first data of the overview, ${language}, ms`, measured: cold, ...alone, atMost: 8 },
        { figure: `warm load to the first data of the overview, ${language}, ms`, measured: warm, ...alone, atMost: 4 }
      ]
    }),
    {
      figure: "from page 1,000 to the next, painted, ms",
      measured: screens.nextOfThousandth,
      reference: "from page 1",
      beside: screens.next,
      atMost: 1.2
    },
    {
      figure: "memory after the pages, MiB",
      measured: [screens.memory.after],
      reference: "before them, and 10 MiB",
      beside: [screens.memory.before + 10],
      atMost: 1
    },
    ...lists.map(({ name, p95 }) => ({
      figure: `${name}, p95, ms`,
      measured: [p95],
      reference: lookUp.name,
      beside: [lookUp.p95],
      atMost: 6
    }))
  ])
  console.log(`# The console

Node ${process.versions.node}, Postgres 18, ${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}, shared by server, database, browser and load. ${count.toLocaleString("en")}
deliveries of one endpoint in seven days, and a twentieth of that of each of 19 others. The load average was ${before.toFixed(1)} before and ${loadavg()[0]!.toFixed(1)} after.

A page of 50 was painted ${median(screens.next).toFixed(0)} ms after the click, at the median. The longest task of all these pages: ${longest(screens.longestTask.pages)};
of the cold load before them: ${longest(screens.longestTask.load)}.

| a page of 50 of the API | p50, ms | p95, ms |
| --- | ---: | ---: |
${[...lists, lookUp].map(({ name, p50, p95 }) => `| ${name} | ${p50.toFixed(1)} | ${p95.toFixed(1)} |`).join("\n")}

${report}`)
  process.exitCode = exitCode
} finally {
  await deployment.stop()
  await database.stop()
}
process.exit()
