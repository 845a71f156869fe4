/** The configurations of nginx and Caddy in the guide, in front of a server. Each needs its program (`apt-get install`). */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { request } from "node:https"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { connect } from "node:tls"
import { afterEach, assert, describe, it } from "vitest"
import { freePort } from "../support/freePort.ts"
import { cutConnections } from "./support/cuts.ts"
import { makeCall, readAgreement, signUp } from "./support/client.ts"
import { type Server, startServer } from "./support/server.ts"
import { patienceMs } from "../support/patienceMs.ts"

const guide = readFileSync(resolve(import.meta.dirname, "../../docs/guides/operating.md"), "utf8")

const configurationOf = (language: string): string => {
  const [, block] = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "m").exec(guide) ?? []
  if (block === undefined) throw new Error(`The guide has no configuration of ${language}`)
  return block
}

/** Replaces a part that the configuration has, so that a changed guide does not pass by accident. */
const replace = (text: string, part: string | RegExp, by: string): string => {
  const replaced = text.replace(part, by)
  assert.notStrictEqual(replaced, text, `no ${String(part)}`)
  return replaced
}

const find = (name: string): string | undefined =>
  [process.env[`${name.toUpperCase()}_PATH`], `/usr/sbin/${name}`, `/usr/bin/${name}`, `/usr/local/bin/${name}`].find(
    (path) => path !== undefined && existsSync(path)
  )

const named = (name: string): string => (find(name) === undefined ? `${name} (skipped: it is not installed)` : name)

const canMakeCertificates = spawnSync("openssl", ["version"]).error === undefined

interface Sent {
  readonly status: number
  readonly code: string
}

describe("the configuration of the guide", () => {
  let folder: string
  let server: Server | undefined
  let proxy: ChildProcess | undefined

  afterEach(async () => {
    if (proxy !== undefined && proxy.exitCode === null) {
      const exited = new Promise((resolve) => proxy!.once("exit", resolve))
      proxy.kill("SIGTERM")
      await exited
    }
    await server?.stop()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    proxy = undefined
    server = undefined
  })

  const start = async () => {
    folder = mkdtempSync(join(tmpdir(), "govoice-proxy-"))
    server = await startServer({ GOVOICE_DATA_DIR: "memory", GOVOICE_TRUSTED_PROXIES: "127.0.0.1" })
    const call = makeCall(() => server!.url, await readAgreement(server.url))
    const { testKey } = await signUp(call)
    return { key: testKey, port: await freePort(), server }
  }

  const run = (command: string, args: ReadonlyArray<string>) => {
    proxy = spawn(command, args, {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
    })
    let output = ""
    proxy.stderr!.setEncoding("utf8").on("data", (chunk: string) => (output += chunk))
    return () => output
  }

  const send = (port: number, path: string, headers: Readonly<Record<string, string>>, body?: string): Promise<Sent> =>
    new Promise((resolve, reject) => {
      const sent = request(
        `https://localhost:${port}${path}`,
        { method: body === undefined ? "GET" : "POST", headers, rejectUnauthorized: false },
        (response) => {
          let text = ""
          response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
          response.on("end", () => {
            const [, code = ""] = /"code":"(\w+)"/.exec(text) ?? []
            resolve({ status: response.statusCode ?? 0, code })
          })
        }
      )
      sent.on("error", reject)
      sent.end(body)
    })

  const prove = async (port: number, key: string, output: () => string) => {
    const deadline = Date.now() + patienceMs
    for (;;) {
      const answer = await send(port, "/readyz", {}).catch(() => undefined)
      if (answer?.status === 200) break
      if (Date.now() > deadline || proxy!.exitCode !== null) throw new Error(`The proxy does not answer: ${output()}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    // The largest document. Escaped for JSON, it is larger than the limits that proxies have by default.
    const document = `<Faktura>${'"'.repeat(999_000)}</Faktura>`
    const submitted = await send(
      port,
      "/v1/invoices",
      { authorization: `Bearer ${key}`, "content-type": "application/json", "idempotency-key": "proxied" },
      JSON.stringify({ invoice_xml: document })
    )
    assert.strictEqual(submitted.status, 201, output())
    // A client that invents addresses is limited as one.
    const refreshFrom = (address: string) =>
      send(
        port,
        "/v1/control-plane/auth/refresh",
        { "content-type": "application/json", "x-forwarded-for": address },
        '{"refresh_token":"of nobody"}'
      )
    const answers: Array<Sent> = []
    // 100 in a minute are let through.
    while (answers.every(({ status }) => status === 401) && answers.length < 1000) {
      const addresses = Array.from({ length: 25 }, (_, index) => `192.0.2.${index}`)
      answers.push(...(await Promise.all(addresses.map(refreshFrom))))
    }
    assert.deepInclude(answers, { status: 429, code: "rate_limit_exceeded" })
    assert.isAtLeast(answers.filter(({ status }) => status === 401).length, 50)
  }

  const attack = async (port: number, apiKey: string) => {
    const check = () => assert.isNull(server!.process.exitCode, server!.output())
    const open = () => connect({ port, host: "127.0.0.1", rejectUnauthorized: false })
    const memory = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server!.process.pid}/status`, "utf8"))?.[1])

    assert.isAbove(await cutConnections({ open, ready: "secureConnect", connections: 200, apiKey, seed: 1, check }), 0)
    const before = memory()
    const floods = Array.from({ length: 4 }, () => {
      const socket = open()
      socket.on("error", () => {})
      socket.pause()
      socket.write("GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(20_000))
      return socket
    })
    for (let time = 0; time < 20; time++) assert.strictEqual((await send(port, "/healthz", {})).status, 200)
    for (const socket of floods) socket.destroy()
    assert.isBelow(memory() - before, 150_000, "in KiB; 4 MiB of requests were sent")
    check()
  }

  it.skipIf(find("nginx") === undefined || !canMakeCertificates)(`of ${named("nginx")} serves the API`, async () => {
    const { key, port, server } = await start()
    const [pem, secret] = [join(folder, "cert.pem"), join(folder, "key.pem")]
    // prettier-ignore
    execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
      "-subj", "/CN=localhost", "-days", "1", "-keyout", secret, "-out", pem], { stdio: "ignore" })
    let site = configurationOf("nginx")
    site = replace(site, "127.0.0.1:3000", `127.0.0.1:${server.port}`)
    site = replace(site, "listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
    site = replace(site, "/etc/ssl/govoice.pem", pem)
    site = replace(site, "/etc/ssl/govoice.key", secret)
    site = replace(site, "govoice.example.com", "localhost")
    const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    for (const name of folders) mkdirSync(join(folder, name))
    const paths = folders.map((name) => `${name}_temp_path ${join(folder, name)};`).join("\n")
    // As root, nginx changes its workers to `nobody`, who may not write into the folder.
    const user = process.getuid?.() === 0 ? "user root;" : ""
    const file = join(folder, "nginx.conf")
    writeFileSync(
      file,
      `daemon off; ${user} pid ${join(folder, "pid")}; error_log stderr;\nevents {}\nhttp {\naccess_log off;\n${paths}\n${site}}\n`
    )
    await prove(port, key, run(find("nginx")!, ["-c", file, "-p", folder]))
    await attack(port, key)
  })

  it.skipIf(find("caddy") === undefined)(`of ${named("caddy")} serves the API`, async () => {
    const { key, port, server } = await start()
    let site = configurationOf("caddy")
    site = replace(site, "127.0.0.1:3000", `127.0.0.1:${server.port}`)
    // A certificate of its own in place of one of an authority.
    site = replace(site, /^govoice\.example\.com \{/, `https://localhost:${port} {\n  bind 127.0.0.1\n  tls internal`)
    const file = join(folder, "Caddyfile")
    writeFileSync(file, `{\n  admin off\n  skip_install_trust\n  auto_https disable_redirects\n}\n${site}`)
    await prove(port, key, run(find("caddy")!, ["run", "--config", file, "--adapter", "caddyfile"]))
  })
})
