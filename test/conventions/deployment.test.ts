/**
 * Static checks of the Dockerfile and the Kubernetes manifests, because the tests run without a container engine and a cluster.
 * `.ci/image` builds and starts the image where an engine responds.
 */
import { existsSync, globSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import * as apps from "kubernetes-models/apps/v1"
import * as batch from "kubernetes-models/batch/v1"
import * as autoscaling from "kubernetes-models/autoscaling/v2"
import * as networking from "kubernetes-models/networking.k8s.io/v1"
import * as policy from "kubernetes-models/policy/v1"
import * as core from "kubernetes-models/v1"
import { BlockList, isIP, isIPv6 } from "node:net"
import { runInNewContext } from "node:vm"
import { assert, describe, it } from "vitest"
import { parseAllDocuments } from "yaml"
import { judgeAddress } from "../../packages/dispatcher/src/index.ts"
import { definitions } from "../../apps/server/src/settings/definitions.ts"
import { broadNetworks } from "../../apps/server/src/settings/trustedProxies.ts"

const root = resolve(import.meta.dirname, "../..")
const server = join(root, "apps/server")
const read = (path: string): string => readFileSync(join(root, path), "utf8")

const isSetting = (name: string): boolean => Object.hasOwn(definitions, name)

interface Instruction {
  readonly name: string
  readonly text: string
}

// Removes comments and joins continued lines.
const instructions = (dockerfile: string): ReadonlyArray<Instruction> =>
  dockerfile
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, " ")
    .split("\n")
    .flatMap((line) => {
      const [, name, text] = /^([A-Z]+) +(.+)$/.exec(line) ?? []
      return name === undefined || text === undefined ? [] : [{ name, text }]
    })

describe("the Dockerfile", () => {
  const all = instructions(read("apps/server/Dockerfile"))
  const last = all.slice(all.map(({ name }) => name).lastIndexOf("FROM"))
  const texts = (from: ReadonlyArray<Instruction>, wanted: string): ReadonlyArray<string> =>
    from.flatMap(({ name, text }) => (name === wanted ? [text] : []))

  it("builds in one stage and runs in another, on the Node of the repository", () => {
    const { devDependencies } = JSON.parse(read("package.json")) as {
      readonly devDependencies: Readonly<Record<string, string>>
    }
    const [build = "", run = ""] = texts(all, "FROM")
    assert.strictEqual(build, `${run} AS build`)
    const [tag, digest = ""] = run.split("@")
    assert.strictEqual(tag, `node:${devDependencies["node"]}-bookworm-slim`)
    assert.match(digest, /^sha256:[0-9a-f]{64}$/)
  })

  it("copies existing files that the ignore file includes", () => {
    const ignored = read("apps/server/Dockerfile.dockerignore")
    const sources = texts(all, "COPY").flatMap((text) =>
      text.startsWith("--from") ? [] : text.split(" ").slice(0, -1)
    )
    assert.isAbove(sources.length, 10)
    for (const source of sources) {
      assert.isTrue(existsSync(join(root, source)), `${source} does not exist`)
      const allowed = ignored
        .split("\n")
        .some((line) => line.startsWith("!") && `${source}/`.startsWith(`${line.slice(1)}/`))
      assert.isTrue(allowed, `${source} is ignored`)
    }
    assert.include(ignored, "\n*\n")
    assert.include(ignored, "**/*.env")
  })

  it("installs every package that the server is built from", () => {
    const { devDependencies } = JSON.parse(read("apps/server/package.json")) as {
      readonly devDependencies: Readonly<Record<string, string>>
    }
    for (const name of Object.keys(devDependencies).filter((name) => name.startsWith("@govoice/"))) {
      const manifest = `packages/${name.slice("@govoice/".length)}/package.json`
      assert.include(texts(all, "COPY"), `${manifest} ${manifest}`)
    }
  })

  it("runs as an unprivileged user, has a health check, and receives signals", () => {
    assert.deepStrictEqual(texts(last, "USER"), ["node"])
    assert.isAbove(
      last.findIndex(({ name }) => name === "USER"),
      last.findIndex(({ name }) => name === "RUN")
    )
    const check = texts(last, "HEALTHCHECK")[0] ?? ""
    assert.match(check, /CMD \["node"/)
    // Evaluates the script of the check with a fetch that records its address.
    const script = (JSON.parse(check.slice(check.indexOf("CMD ") + 4)) as ReadonlyArray<string>)[2]!
    const asked = (env: Readonly<Record<string, string>>): ReadonlyArray<string> => {
      const addresses: Array<string> = []
      const record = (address: string) => {
        addresses.push(address)
        return new Promise(() => {})
      }
      runInNewContext(script, { process: { env }, fetch: record })
      return addresses
    }
    assert.deepStrictEqual(asked({ PORT: "3000", GOVOICE_METRICS_PORT: "9464" }), ["http://127.0.0.1:3000/healthz"])
    assert.deepStrictEqual(asked({ PORT: "3000", GOVOICE_ROLE: "worker", GOVOICE_METRICS_PORT: "9464" }), [
      "http://127.0.0.1:9464/healthz"
    ])
    assert.deepStrictEqual(asked({ PORT: "3000", GOVOICE_ROLE: "worker" }), [])
    assert.deepStrictEqual(JSON.parse(texts(last, "ENTRYPOINT")[0] ?? ""), ["node", "/app/dist/cli.js"])
    assert.deepStrictEqual(JSON.parse(texts(last, "CMD")[0] ?? ""), ["serve"])
  })

  it("contains no secret, uses no ADD, and pins pnpm", () => {
    assert.isEmpty(texts(all, "ADD"))
    assert.isEmpty(texts(all, "ARG"))
    for (const text of [...texts(all, "ENV"), ...texts(all, "RUN")])
      assert.notMatch(text, /SECRET|PASSWORD|TOKEN|_KEYS=/)
    const { packageManager } = JSON.parse(read("package.json")) as { readonly packageManager: string }
    const managers = texts(all, "RUN").flatMap((text) => text.match(/pnpm@[\d.]+/g) ?? [])
    assert.deepStrictEqual([...new Set(managers)], [packageManager])
  })
})

describe(".gitignore", () => {
  it("covers files of settings, which have secrets", () => {
    const lines = read(".gitignore").split("\n")
    assert.include(lines, "*.env")
    assert.isEmpty(lines.filter((line) => line.startsWith("!")))
  })
})

const privateAddresses =
  "10.0.0.1 100.64.0.1 127.0.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.168.1.1 0.0.0.0 198.18.0.1 224.0.0.1 255.255.255.255 ::1 fe80::1 fd00::1 64:ff9b::a00:1 2002:a00:1::1".split(
    " "
  )

interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string }
}

interface Container {
  readonly ports?: ReadonlyArray<{ readonly name: string; readonly containerPort: number }>
  readonly env?: ReadonlyArray<{ readonly name: string; readonly value: string }>
  readonly envFrom?: ReadonlyArray<{ readonly secretRef?: { readonly name: string } }>
  readonly resources?: { readonly requests?: object; readonly limits?: { readonly memory?: string } }
  readonly startupProbe?: Probe
  readonly livenessProbe?: Probe
  readonly readinessProbe?: Probe
  readonly securityContext?: {
    readonly readOnlyRootFilesystem?: boolean
    readonly allowPrivilegeEscalation?: boolean
    readonly capabilities?: { readonly drop?: ReadonlyArray<string> }
  }
}

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly stringData?: Readonly<Record<string, string>>
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> }
    readonly maxUnavailable?: number
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> }
      readonly spec: {
        readonly containers: ReadonlyArray<Container>
        readonly securityContext?: { readonly runAsNonRoot?: boolean }
        readonly automountServiceAccountToken?: boolean
        readonly terminationGracePeriodSeconds?: number
      }
    }
  }
}

interface Validated {
  validate(): void
}

const schemas: Readonly<Record<string, (manifest: object) => Validated>> = {
  "v1 Namespace": (manifest) => new core.Namespace(manifest),
  "v1 Secret": (manifest) => new core.Secret(manifest),
  "v1 Service": (manifest) => new core.Service(manifest),
  "apps/v1 Deployment": (manifest) => new apps.Deployment(manifest),
  "batch/v1 Job": (manifest) => new batch.Job(manifest),
  "autoscaling/v2 HorizontalPodAutoscaler": (manifest) => new autoscaling.HorizontalPodAutoscaler(manifest as never),
  "networking.k8s.io/v1 NetworkPolicy": (manifest) => new networking.NetworkPolicy(manifest),
  "policy/v1 PodDisruptionBudget": (manifest) => new policy.PodDisruptionBudget(manifest)
}

const validate = (manifest: Manifest): void => {
  const schema = schemas[`${manifest.apiVersion} ${manifest.kind}`]
  if (schema === undefined) throw new Error(`No schema for ${manifest.apiVersion} ${manifest.kind}`)
  schema(manifest).validate()
}

describe("the Kubernetes manifests", () => {
  const all = globSync("kubernetes/*.yaml", { cwd: server }).flatMap((file) =>
    parseAllDocuments(readFileSync(join(server, file), "utf8")).map((document) => {
      assert.isEmpty([...document.errors, ...document.warnings], file)
      return document.toJS() as Manifest
    })
  )
  // A custom resource of the Prometheus operator has no schema in Kubernetes.
  const manifests = all.filter(({ kind }) => kind !== "PodMonitor")
  const ofKind = (kind: string) => manifests.filter((manifest) => manifest.kind === kind)
  const workloads = [...ofKind("Deployment"), ...ofKind("Job")]

  it.each(manifests.map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest] as const))(
    "%s validates against its schema",
    (_, manifest) => {
      validate(manifest)
      if (manifest.kind !== "Namespace") assert.strictEqual(manifest.metadata.namespace, "govoice")
    }
  )

  it("fail the validation with a wrong type", () => {
    const [deployment] = ofKind("Deployment")
    assert.throws(() => validate({ ...deployment!, spec: { ...deployment!.spec, replicas: "two" } } as never))
  })

  it("run API and worker as deployments with a disruption budget each", () => {
    assert.deepStrictEqual(
      ofKind("Deployment").map(
        ({ spec }) => spec.template.spec.containers[0]?.env?.find(({ name }) => name === "GOVOICE_ROLE")?.value
      ),
      ["api", "worker"]
    )
    const chosen = ofKind("PodDisruptionBudget").map(({ spec }) => JSON.stringify(spec.selector.matchLabels))
    for (const { spec } of ofKind("Deployment")) {
      assert.deepStrictEqual(spec.selector.matchLabels, spec.template.metadata.labels)
      assert.include(chosen, JSON.stringify(spec.selector.matchLabels))
    }
  })

  it.each(workloads.map((manifest) => [manifest.metadata.name, manifest.spec.template.spec] as const))(
    "%s has no privileges, declares its resources, and reads its secrets by reference",
    (_, pod) => {
      assert.isTrue(pod.securityContext?.runAsNonRoot)
      assert.isFalse(pod.automountServiceAccountToken)
      for (const container of pod.containers) {
        assert.isTrue(container.securityContext?.readOnlyRootFilesystem)
        assert.isFalse(container.securityContext?.allowPrivilegeEscalation)
        assert.deepStrictEqual(container.securityContext?.capabilities?.drop, ["ALL"])
        assert.isDefined(container.resources?.requests)
        assert.isDefined(container.resources?.limits?.memory)
        assert.deepStrictEqual(container.envFrom, [{ secretRef: { name: "govoice" } }])
        for (const { name } of container.env ?? []) assert.isTrue(isSetting(name), name)
      }
    }
  )

  // Pods are called by an ingress controller. Without this, all clients share the limits of its address.
  it("name private networks as trusted proxies of the API", () => {
    const api = ofKind("Deployment").find(({ metadata }) => metadata.name === "govoice-api")
    const value = api?.spec.template.spec.containers[0]?.env?.find(
      ({ name }) => name === "GOVOICE_TRUSTED_PROXIES"
    )?.value
    const networks = (value ?? "").split(",")
    assert.isEmpty(broadNetworks(networks))
    for (const network of networks) {
      const [address = "", prefix = ""] = network.split("/")
      assert.isTrue(isIP(address) !== 0 && Number(prefix) > 8 && !judgeAddress(address).ok, network)
    }
  })

  it("have probes and a sufficient grace period", () => {
    for (const { spec } of ofKind("Deployment")) {
      assert.isDefined(spec.template.spec.containers[0]?.livenessProbe)
      assert.isAtLeast(spec.template.spec.terminationGracePeriodSeconds ?? 0, 20)
    }
  })

  // The kernel accepts connections of a process that hangs: a port that is open tells nothing.
  it.each(["govoice-api", "govoice-worker"])("%s is asked for responses, not for an open port", (name) => {
    const workload = ofKind("Deployment").find(({ metadata }) => metadata.name === name)
    const container = workload!.spec.template.spec.containers[0]!
    assert.strictEqual(container.startupProbe?.httpGet?.path, "/healthz")
    assert.strictEqual(container.livenessProbe?.httpGet?.path, "/healthz")
    assert.strictEqual(container.readinessProbe?.httpGet?.path, "/readyz")
    const probed = [container.startupProbe, container.livenessProbe, container.readinessProbe]
    const ports = container.ports?.map((port) => port.name) ?? []
    for (const probe of probed) assert.include(ports, probe!.httpGet!.port)
  })

  it("scale an existing deployment", () => {
    const [scaler] = ofKind("HorizontalPodAutoscaler") as ReadonlyArray<unknown> as ReadonlyArray<{
      readonly spec: { readonly scaleTargetRef: { readonly name: string }; readonly minReplicas: number }
    }>
    const target = ofKind("Deployment").find(({ metadata }) => metadata.name === scaler?.spec.scaleTargetRef.name)
    assert.isDefined(target)
    assert.notProperty(target?.spec, "replicas", "applying the manifest again would reset the autoscaler")
    assert.isAtLeast(scaler?.spec.minReplicas ?? 0, 2)
  })

  it("deny all traffic by default, and keep workers away from private networks", () => {
    const policies = ofKind("NetworkPolicy") as ReadonlyArray<unknown> as ReadonlyArray<{
      readonly metadata: { readonly name: string }
      readonly spec: {
        readonly podSelector: { readonly matchLabels?: Readonly<Record<string, string>> }
        readonly policyTypes: ReadonlyArray<string>
        readonly ingress?: ReadonlyArray<unknown>
        readonly egress?: ReadonlyArray<{
          readonly to: ReadonlyArray<{
            readonly ipBlock?: { readonly cidr: string; readonly except: ReadonlyArray<string> }
          }>
        }>
      }
    }>
    const named = (name: string) => policies.find(({ metadata }) => metadata.name === name)?.spec
    assert.deepStrictEqual(named("default-deny"), { podSelector: {}, policyTypes: ["Ingress", "Egress"] })
    const worker = named("govoice-worker")
    assert.deepStrictEqual(
      worker?.podSelector.matchLabels,
      ofKind("Deployment").find(({ metadata }) => metadata.name === "govoice-worker")?.spec.selector.matchLabels
    )
    const blocks = worker?.egress?.flatMap(({ to }) => to.flatMap(({ ipBlock }) => ipBlock ?? [])) ?? []
    const outside = (address: string): boolean => {
      const list = (cidrs: ReadonlyArray<string>) => {
        const found = new BlockList()
        for (const cidr of cidrs) {
          const [network = "", prefix] = cidr.split("/")
          found.addSubnet(network, Number(prefix), isIPv6(network) ? "ipv6" : "ipv4")
        }
        return found
      }
      const family = isIPv6(address) ? "ipv6" : "ipv4"
      return blocks.some(
        ({ cidr, except }) => list([cidr]).check(address, family) && !list(except).check(address, family)
      )
    }
    for (const address of ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"]) assert.isTrue(outside(address))
    for (const address of privateAddresses) {
      assert.isFalse(outside(address), address)
      assert.isFalse(judgeAddress(address).ok, address)
    }
  })

  it("scrape a port that every pod has", () => {
    const [monitor] = all.filter(({ kind }) => kind === "PodMonitor") as ReadonlyArray<unknown> as ReadonlyArray<{
      readonly spec: { readonly podMetricsEndpoints: ReadonlyArray<{ readonly port: string }> }
    }>
    const port = monitor?.spec.podMetricsEndpoints[0]?.port
    for (const { spec } of ofKind("Deployment")) {
      const [container] = spec.template.spec.containers
      const exposed = container?.ports?.find(({ name }) => name === port)?.containerPort
      const metrics = container?.env?.find(({ name }) => name === "GOVOICE_METRICS_PORT")?.value
      assert.strictEqual(String(exposed), metrics)
    }
  })

  it("contain no secret", () => {
    for (const { stringData } of ofKind("Secret")) {
      assert.isNotEmpty(stringData)
      for (const [name, value] of Object.entries(stringData ?? {})) {
        assert.isTrue(isSetting(name), name)
        assert.strictEqual(value, "")
      }
    }
  })
})
