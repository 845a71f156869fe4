/** Static checks of compose.yaml and of the files that it mounts, because the tests run without a container engine. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { BlockList } from "node:net"
import { tmpdir } from "node:os"
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

interface Network {
  readonly ipam: { readonly config: ReadonlyArray<{ readonly subnet: string; readonly gateway: string }> }
}

describe("compose.yaml", () => {
  const { networks, services, volumes } = parse(readFileSync(join(server, "compose.yaml"), "utf8"), {
    merge: true
  }) as {
    readonly services: Readonly<Record<string, Service>>
    readonly volumes: Readonly<Record<string, null>>
    readonly networks: { readonly default: Network }
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

  // The commands of both places, with an echo in place of npx and openssl, and without the start of the containers.
  it.each(["apps/server/compose.yaml", "apps/server/README.md"])(
    "gets its secrets from files of mode 0600: %s",
    (file) => {
      const lines = read(file)
        .split("\n")
        .map((line) => line.replace(/^# {5}/, ""))
      const first = lines.indexOf("umask 077")
      const end = lines.findIndex((line, index) => index > first && line.startsWith("docker compose"))
      assert.isAbove(first, -1)
      const commands = lines
        .slice(first, end)
        .join("\n")
        .replaceAll(/\bnpx -y|\bopenssl\b/g, "echo")
      const folder = mkdtempSync(join(tmpdir(), "govoice-compose-"))
      try {
        mkdirSync(join(folder, "apps/server"), { recursive: true })
        execFileSync("bash", ["-e", "-c", commands], { cwd: folder })
        for (const name of ["govoice.env", "postgres.env"]) {
          assert.strictEqual(statSync(join(folder, "apps/server", name)).mode & 0o777, 0o600, name)
        }
      } finally {
        rmSync(folder, { recursive: true })
      }
    }
  )

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

  // A published port is called from the gateway of its network. Without this, all clients share the limits of one address.
  it("names the gateway of its network, which a proxy on the machine calls from, as a trusted proxy", () => {
    const [range, ...others] = networks.default.ipam.config
    assert.isEmpty(others)
    assert.strictEqual(services["api"]?.environment?.["GOVOICE_TRUSTED_PROXIES"], range!.gateway)
    const [address = "", prefix] = range!.subnet.split("/")
    const subnet = new BlockList()
    subnet.addSubnet(address, Number(prefix))
    assert.isTrue(subnet.check(range!.gateway))
    for (const [name, { environment }] of ofGovoice) {
      if (name !== "api") assert.notProperty(environment, "GOVOICE_TRUSTED_PROXIES", name)
    }
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
