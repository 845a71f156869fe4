/** The alert rules and the dashboard use metrics and labels of a running server, and the guide lists the same alerts. */
import { parser } from "@prometheus-io/lezer-promql"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { parse } from "yaml"
import { create } from "../support/databases.ts"
import { freePort } from "../support/freePort.ts"
import { ServerProcess } from "../support/serverProcess.ts"
import { secrets } from "./support/server.ts"
import { patienceMs } from "../support/patienceMs.ts"

const root = join(import.meta.dirname, "../..")
const read = (path: string): string => readFileSync(join(root, path), "utf8")

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly description: string }
}

const { groups } = parse(read("apps/server/observability/alerts.yaml")) as {
  readonly groups: ReadonlyArray<{ readonly rules: ReadonlyArray<Rule> }>
}
const rules = groups.flatMap((group) => group.rules)

interface Panel {
  readonly title: string
  readonly targets?: ReadonlyArray<{ readonly expr: string }>
}

const { panels } = JSON.parse(read("apps/server/observability/dashboard.json")) as {
  readonly panels: ReadonlyArray<Panel>
}
const queries = panels.flatMap(({ targets = [], title }) => targets.map(({ expr }) => [title, expr] as const))

interface Selector {
  readonly metric: string
  readonly matchers: ReadonlyArray<{ readonly label: string; readonly operator: string; readonly value: string }>
}

interface Query {
  readonly selectors: ReadonlyArray<Selector>
  /** The labels of `by`. */
  readonly grouping: ReadonlyArray<string>
}

const parseQuery = (expr: string): Query => {
  const text = expr.replaceAll("$__rate_interval", "5m")
  const selectors: Array<Selector & { readonly matchers: Array<Selector["matchers"][number]> }> = []
  const grouping: Array<string> = []
  parser.parse(text).iterate({
    enter: (node) => {
      const source = text.slice(node.from, node.to)
      if (node.type.isError) throw new Error(`Not PromQL at ${node.from}: ${text}`)
      if (node.name === "VectorSelector") selectors.push({ metric: /^\w+/.exec(source)?.[0] ?? "", matchers: [] })
      if (node.name === "UnquotedLabelMatcher") {
        const [, label = "", operator = "", value = ""] = /^(\w+)\s*(=~|!=|!~|=)\s*"(.*)"$/.exec(source) ?? []
        selectors.at(-1)?.matchers.push({ label, operator, value })
      }
      if (node.name === "GroupingLabels")
        grouping.push(
          ...source
            .slice(1, -1)
            .split(",")
            .map((label) => label.trim())
        )
    }
  })
  return { selectors, grouping: grouping.filter((label) => label !== "") }
}

interface Series {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

const parseSeries = (text: string): ReadonlyArray<Series> =>
  text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [, name = "", labels = ""] = /^(\w+)(?:\{(.*)\})? /.exec(line) ?? []
      const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = "", value = ""]) => [key, value] as const)
      return { name, labels: Object.fromEntries(pairs) }
    })

// Prometheus adds these to every series.
const targetLabels = ["instance", "job"]

// Prometheus makes this series for every target.
const ofPrometheus: ReadonlyArray<Series> = [{ name: "up", labels: { job: "govoice", instance: "127.0.0.1:9464" } }]

const isMatched = (value: string, { operator, value: wanted }: Selector["matchers"][number]): boolean => {
  if (operator === "=") return value === wanted
  if (operator === "!=") return value !== wanted
  return new RegExp(`^(?:${wanted})$`).test(value) === (operator === "=~")
}

/** Returns what a query refers to and the server does not export. */
const faultsOf = (expr: string, exported: ReadonlyArray<Series>): ReadonlyArray<string> => {
  const { grouping, selectors } = parseQuery(expr)
  const faults: Array<string> = selectors.length === 0 ? ["no metric"] : []
  const labels = new Set(targetLabels)
  for (const { matchers, metric } of selectors) {
    const series = exported.filter(({ name }) => name === metric)
    if (series.length === 0) faults.push(`no metric ${metric}`)
    for (const one of series) for (const label of Object.keys(one.labels)) labels.add(label)
    for (const matcher of matchers) {
      // The classes of a status begin with the first response of that class.
      const isKnown = metric === "govoice_http_requests_total" && /^[1-5]xx$/.test(matcher.value)
      const found = series.some((one) => {
        const value = one.labels[matcher.label]
        return value !== undefined && (isKnown || isMatched(value, matcher))
      })
      if (!found) faults.push(`no ${metric} with ${matcher.label}${matcher.operator}${matcher.value}`)
    }
  }
  for (const label of grouping) if (!labels.has(label)) faults.push(`no label ${label}`)
  return faults
}

const guide = read("docs/guides/operating.md")

/** Rows of the table of metrics: the metric, and the alerts that the last column names. */
const guideRows = guide.split("\n").flatMap((line) => {
  const [, metric, alertWhen] = /^\| `([a-z_]+)` +\|[^|]*\|([^|]*)\|$/.exec(line) ?? []
  return metric === undefined ? [] : [{ metric, alertWhen: alertWhen ?? "" }]
})

const baseName = (metric: string): string => metric.replace(/_(?:bucket|sum|count)$/, "")

describe("alert rules and dashboard", () => {
  let server: ServerProcess
  let exported: ReadonlyArray<Series> = []
  let text = ""

  beforeAll(async () => {
    server = new ServerProcess(
      ["--conditions=source", join(root, "apps/server/src/main.ts")],
      {
        PORT: "0",
        GOVOICE_DATA_DIR: "memory",
        GOVOICE_METRICS_PORT: "0",
        GOVOICE_LIVE_MODE: "true",
        GOVOICE_KSEF_URL: "http://127.0.0.1:1/v2"
      },
      { cwd: root }
    )
    const api = await server.started()
    for (const path of ["/v1/invoices/unknown?secret=1", "/wp-login.php", "/healthz", "/v1/me"]) {
      await (await fetch(`${api}${path}`)).arrayBuffer()
    }
    const deadline = Date.now() + patienceMs
    const collections = (): number =>
      text
        .split("\n")
        .reduce((sum, line) => sum + Number(/^nodejs_gc_duration_seconds_count\S* (\d+)$/.exec(line)?.[1] ?? 0), 0)
    const wanted = [
      "govoice_queue_depth",
      "govoice_ksef_pending_seconds_max",
      "govoice_claim_duration_seconds_count",
      "govoice_pruned_records_total"
    ]
    do {
      await new Promise((resolve) => setTimeout(resolve, 20))
      const url = /Metrics are served at (http:\S+\/metrics)/.exec(server.text)?.[1]
      text = url === undefined ? "" : await (await fetch(url)).text()
      exported = [...ofPrometheus, ...parseSeries(text)]
      if (collections() === 0) continue
      if (wanted.every((name) => exported.some((series) => series.name === name))) break
    } while (Date.now() < deadline)
  })

  afterAll(() => void server.kill())

  it.each(rules.map((rule) => [rule.alert, rule] as const))("%s uses exported metrics and labels", (_, rule) => {
    assert.deepStrictEqual(faultsOf(rule.expr, exported), [])
    assert.oneOf(rule.labels.severity, ["critical", "warning"])
    assert.match(rule.annotations.summary, /\.$/)
    assert.match(rule.annotations.description, /\.$/)
  })

  it.each(queries)("dashboard: %s uses exported metrics and labels: %s", (_, expr) => {
    assert.deepStrictEqual(faultsOf(expr, exported), [])
  })

  it("finds faults", () => {
    assert.isNotEmpty(faultsOf("govoice_unknown_total", exported))
    assert.isNotEmpty(faultsOf('govoice_queue_depth{queue="unknown"}', exported))
    assert.isNotEmpty(faultsOf("sum by (unknown) (govoice_queue_depth)", exported))
    assert.throws(() => faultsOf("sum(", exported))
  })

  it("the guide lists exported metrics", () => {
    const names = new Set(exported.map(({ name }) => baseName(name)))
    assert.isAbove(guideRows.length, 25)
    for (const { metric } of guideRows) {
      assert.isTrue(names.has(metric), metric)
    }
  })

  it("the guide names every metric of Govoice", () => {
    const names = new Set(exported.map(({ name }) => baseName(name)).filter((name) => name.startsWith("govoice_")))
    const isNamed = (name: string): boolean => guide.includes(`\`${name}\``)
    // A maximum is in the row of its metric.
    assert.deepStrictEqual(
      [...names].filter((name) => !isNamed(name) && !isNamed(name.replace(/_max$/, ""))),
      []
    )
  })

  it("the guide names each alert beside a metric that its rule uses", () => {
    const named = guideRows.flatMap(({ alertWhen, metric }) =>
      [...alertWhen.matchAll(/`(Govoice\w+)`/g)].map(([, alert = ""]) => ({ alert, metric }))
    )
    assert.sameMembers(
      named.map(({ alert }) => alert),
      rules.map(({ alert }) => alert)
    )
    for (const { alert, metric } of named) {
      const { selectors } = parseQuery(rules.find((rule) => rule.alert === alert)!.expr)
      assert.include(
        selectors.map((selector) => baseName(selector.metric)),
        metric,
        alert
      )
    }
    for (const { alertWhen, metric } of guideRows) {
      assert.isTrue(alertWhen.trim() === "-" || alertWhen.startsWith(" `Govoice"), metric)
    }
  })

  it("requests are counted by route, method and class of the status", () => {
    assert.include(text, 'govoice_http_requests_total{method="GET",route="/v1/invoices/:id",status="4xx"} 1')
    assert.include(text, 'govoice_http_requests_total{method="GET",route="/healthz",status="2xx"} 1')
    assert.include(text, 'govoice_http_requests_total{method="GET",route="unmatched",status="4xx"} 1')
    assert.include(text, 'govoice_http_request_duration_seconds_count{method="GET",route="/v1/me"} 1')
    assert.include(text, "govoice_http_requests_in_flight 0")
    assert.notMatch(text, /secret=1|wp-login/)
  })

  it("the pool and the process are measured", () => {
    const value = (series: string): number => Number(text.split(`\n${series} `)[1]?.split("\n")[0])
    assert.strictEqual(value('govoice_database_connections_max{pool="requests"}'), 1)
    assert.isAbove(value("process_cpu_seconds_total"), 0)
    assert.isAbove(value("process_resident_memory_bytes"), value("nodejs_heap_size_used_bytes"))
    assert.isAbove(value("nodejs_eventloop_delay_seconds_count"), 0)
    assert.match(text, /^nodejs_gc_duration_seconds_count\S* [1-9]/m)
  })
})

/** Returns the body of a path of the metrics port when it is there. */
const metricsUrl = async (server: ServerProcess): Promise<string> => {
  const deadline = Date.now() + patienceMs
  while (Date.now() < deadline) {
    const url = /Metrics are served at (http:\S+)\/metrics/.exec(server.text)?.[1]
    if (url !== undefined) return url
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`No metrics are served:\n${server.text}`)
}

describe.each(["api", "worker"] as const)("a process of the role %s alone", (role) => {
  let server: ServerProcess
  let url = ""

  let database: Awaited<ReturnType<typeof create>>

  beforeAll(async () => {
    database = await create()
    server = new ServerProcess(
      ["--conditions=source", join(root, "apps/server/src/main.ts")],
      { ...secrets, PORT: "0", DATABASE_URL: database.url, GOVOICE_METRICS_PORT: "0", GOVOICE_ROLE: role },
      { cwd: root }
    )
    url = await metricsUrl(server)
  })

  afterAll(async () => {
    await server?.kill()
    await database?.drop()
  })

  it("exports its role and the age of the queues, so that they are known without the other role", async () => {
    const deadline = Date.now() + patienceMs
    let text = ""
    do {
      text = await (await fetch(`${url}/metrics`)).text()
    } while (!text.includes("govoice_queue_oldest_due_seconds{") && Date.now() < deadline)
    for (const queue of ["invoices", "deliveries", "retries"]) {
      assert.include(text, `govoice_queue_oldest_due_seconds{queue="${queue}"} 0`)
      assert.include(text, `govoice_queue_depth{queue="${queue}"} 0`)
    }
    assert.include(text, "govoice_deliveries_limited_oldest_seconds 0")
    assert.match(text, new RegExp(`^govoice_build_info\\{.*role="${role}".*\\} 1$`, "m"))
  })

  it("answers probes beside its metrics", async () => {
    for (const path of ["/healthz", "/readyz"]) assert.strictEqual((await fetch(url + path)).status, 200, path)
  })
})

describe("a worker whose database does not answer yet", () => {
  let server: ServerProcess

  afterAll(() => void server?.kill())

  it("answers probes: it is alive, and tells why it is not ready", async () => {
    server = new ServerProcess(
      ["--conditions=source", join(root, "apps/server/src/main.ts")],
      {
        ...secrets,
        DATABASE_URL: `postgres://govoice:govoice@127.0.0.1:${await freePort()}/govoice?sslmode=disable`,
        GOVOICE_DATABASE_WAIT_MS: "600000",
        GOVOICE_METRICS_PORT: "0",
        GOVOICE_ROLE: "worker"
      },
      { cwd: root }
    )
    const url = await metricsUrl(server)
    assert.strictEqual((await fetch(`${url}/healthz`)).status, 200)
    const deadline = Date.now() + patienceMs
    let text = ""
    do {
      const response = await fetch(`${url}/readyz`)
      assert.strictEqual(response.status, 503)
      text = await response.text()
    } while (!text.includes("database") && Date.now() < deadline)
    assert.include(text, "service_unavailable")
    assert.include(text, "database")
  })
})
