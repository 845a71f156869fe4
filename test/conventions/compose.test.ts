/** Static checks of compose.yaml and of the files that it mounts, because the tests run without a container engine. */
import { existsSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { assert, describe, it } from "vitest"
import { parse } from "yaml"
import { definitions } from "../../apps/server/src/settings/definitions.ts"

const root = resolve(import.meta.dirname, "../..")
const server = join(root, "apps/server")
const read = (path: string): string => readFileSync(join(root, path), "utf8")

const isSetting = (name: string): boolean => Object.hasOwn(definitions, name)

interface Service {
  readonly image?: string
  readonly read_only?: boolean
  readonly cap_drop?: ReadonlyArray<string>
  readonly command?: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: ReadonlyArray<string>
  readonly volumes?: ReadonlyArray<string>
  readonly deploy?: { readonly replicas?: number }
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: { readonly test: ReadonlyArray<string> }
}

describe("compose.yaml", () => {
  const { services, volumes } = parse(readFileSync(join(server, "compose.yaml"), "utf8"), { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>
    readonly volumes: Readonly<Record<string, null>>
  }
  const ofGovoice = Object.entries(services).filter(([, { image }]) => image === "govoice")

  it("starts Postgres 18, migrates, and then starts an API process and two workers", () => {
    assert.sameMembers(Object.keys(services), ["postgres", "migrate", "api", "worker", "prometheus", "grafana"])
    assert.match(services["postgres"]?.image ?? "", /^postgres:18\.\d+/)
    assert.include(services["postgres"]?.healthcheck?.test.join(" "), "pg_isready")
    assert.deepStrictEqual(services["migrate"]?.command, ["migrate"])
    assert.strictEqual(services["migrate"]?.depends_on?.["postgres"]?.condition, "service_healthy")
    for (const role of ["api", "worker"]) {
      assert.strictEqual(services[role]?.environment?.["GOVOICE_ROLE"], role)
      assert.strictEqual(services[role]?.depends_on?.["migrate"]?.condition, "service_completed_successfully")
    }
    assert.strictEqual(services["worker"]?.deploy?.replicas, 2)
  })

  it("drops all capabilities, publishes ports on loopback only, and pins images", () => {
    for (const [name, service] of Object.entries(services)) {
      for (const port of service.ports ?? []) assert.match(port, /^127\.0\.0\.1:/)
      if (service.image !== "govoice") assert.match(service.image ?? "", /:v?\d+\.\d+/)
      if (name === "postgres") continue
      assert.isTrue(service.read_only, name)
      assert.deepStrictEqual(service.cap_drop, ["ALL"], name)
    }
    for (const [name, { environment }] of ofGovoice) {
      assert.isEmpty(
        Object.keys(environment ?? {}).filter((setting) => !isSetting(setting)),
        name
      )
    }
    const published = Object.values(services).flatMap(({ ports = [] }) => ports.map((port) => port.split(":")[1]))
    assert.lengthOf(new Set(published), published.length)
  })

  it("mounts existing files and declared volumes", () => {
    for (const { volumes: mounts = [] } of Object.values(services)) {
      for (const mount of mounts) {
        const [source = ""] = mount.split(":")
        if (source.startsWith("./")) assert.isTrue(existsSync(join(server, source)), source)
        else assert.property(volumes, source)
      }
    }
  })

  it("has Prometheus scrape the metrics of every process, and evaluate the alert rules", () => {
    const { rule_files, scrape_configs } = parse(read("apps/server/observability/prometheus.yml")) as {
      readonly rule_files: ReadonlyArray<string>
      readonly scrape_configs: ReadonlyArray<{
        readonly dns_sd_configs: ReadonlyArray<{ readonly names: ReadonlyArray<string>; readonly port: number }>
      }>
    }
    const targets = scrape_configs.flatMap(({ dns_sd_configs }) => dns_sd_configs)
    const serving = ofGovoice.filter(([name]) => name !== "migrate")
    assert.sameMembers(
      targets.flatMap(({ names }) => names),
      serving.map(([name]) => name)
    )
    for (const [, { environment }] of serving) {
      for (const { port } of targets) assert.strictEqual(environment?.["GOVOICE_METRICS_PORT"], String(port))
    }
    const mounts = services["prometheus"]?.volumes?.map((mount) => mount.split(":")) ?? []
    for (const file of rule_files) {
      assert.deepInclude(mounts, ["./observability/alerts.yaml", file, "ro"])
    }
  })

  it("has Grafana show the dashboard over Prometheus", () => {
    const { datasources } = parse(read("apps/server/observability/grafana/datasources/prometheus.yaml")) as {
      readonly datasources: ReadonlyArray<{ readonly type: string; readonly url: string }>
    }
    assert.deepInclude(datasources[0], { type: "prometheus", url: "http://prometheus:9090" })
    const { providers } = parse(read("apps/server/observability/grafana/dashboards/govoice.yaml")) as {
      readonly providers: ReadonlyArray<{ readonly options: { readonly path: string } }>
    }
    const mounted = `./observability/dashboard.json:${providers[0]?.options.path}/govoice.json:ro`
    assert.include(services["grafana"]?.volumes ?? [], mounted)
  })
})
