import { assert, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connectionOptions } from "../../src/database/connectionOptions.ts"
import { describeHosts, faultOf, targetOf, withoutHosts } from "../../src/settings/postgresUrl.ts"

describe("targetOf", () => {
  it("reads host, port, database and user, and prefers parameters", () => {
    assert.deepInclude(targetOf("postgres://u%40x:secret@db.example.com:6432/name"), {
      hosts: [{ host: "db.example.com", port: 6432 }],
      database: "name",
      user: "u@x"
    })
    assert.deepInclude(targetOf("postgres://a:b@c:1/d?host=/var/run/postgresql&port=2&dbname=e&user=f"), {
      hosts: [{ host: "/var/run/postgresql", port: 2 }],
      database: "e",
      user: "f"
    })
  })
})

describe("several hosts", () => {
  const tail = "target_session_attrs=read-write"

  it.each([
    [`postgres://u:p@a:1,b,[::1]:3/x?${tail}`, "a:1, b:5432, [::1]:3"],
    [`postgres://u:p@a,b/x?${tail}&port=6000`, "a:6000, b:6000"],
    [`postgresql:///x?host=a,/var/run/postgresql&port=1,2&user=u&${tail}`, "a:1, /var/run/postgresql:2"]
  ])("are read as libpq reads them: %s", (url, expected) => {
    assert.isUndefined(faultOf(url))
    assert.strictEqual(describeHosts(targetOf(url)), expected)
    assert.deepInclude(targetOf(url), { user: "u", database: "x", sessionAttributes: "read-write" })
    const { searchParams } = new URL(withoutHosts(url))
    assert.isFalse(searchParams.has("host") || searchParams.has("port"))
  })

  it("are local when all of them are", () => {
    assert.isTrue(targetOf(`postgres://u:p@localhost,127.0.0.1:2/x?${tail}`).isLocal)
    assert.strictEqual(targetOf(`postgres://u:p@localhost,db.example.com/x?${tail}`).sslMode, "verify-full")
  })

  it("are passed to the driver, unlike a single one that may be any", () => {
    const { hosts, targetSessionAttrs } = connectionOptions(`postgres://u:p@127.0.0.1,localhost:2/x?${tail}`)
    assert.deepStrictEqual(hosts, [
      { host: "127.0.0.1", port: 5432 },
      { host: "localhost", port: 2 }
    ])
    assert.strictEqual(targetSessionAttrs, "read-write")
    assert.notProperty(connectionOptions("postgres://u:p@127.0.0.1/x"), "hosts")
    assert.deepStrictEqual(connectionOptions(`postgres://u:p@127.0.0.1/x?${tail}`).hosts, [
      { host: "127.0.0.1", port: 5432 }
    ])
  })

  it.each([
    ["postgres://u:p@a,b/x", /^has several hosts, and must end in target_session_attrs=read-write/],
    ["postgres://u:p@a,b/x?target_session_attrs=standby", /^must have a target_session_attrs among: any, primary/],
    [`postgres://u:p@a,b/x?port=1,2,3&${tail}`, /^must have one port, or one for each of its 2 hosts$/],
    [`postgres://u:p@a,b/x?port=1,x&${tail}`, /^must have ports from 1 to 65535$/],
    [`postgres://u:p@a,b:x/x?${tail}`, /percent-encoded$/],
    ["http://a,b/x", /^must have|^has several|^must be a URL that begins with postgres/]
  ])("are refused with a sentence: %s", (url, expected) => {
    assert.match(faultOf(url) ?? "", expected)
  })
})

describe("TLS", () => {
  it.each(["localhost", "127.0.0.1", "127.1.2.3", "[::1]"])("is off by default on %s", (host) => {
    const url = `postgres://u:p@${host}/x`
    assert.strictEqual(targetOf(url).sslMode, "disable")
    assert.notProperty(connectionOptions(url), "ssl")
  })

  it.each(["db.example.com", "10.0.0.1", "128.0.0.1", "localhost.example.com", "postgres", "0.0.0.0"])(
    "verifies the certificate by default on %s",
    (host) => {
      const url = `postgres://u:p@${host}/x`
      assert.strictEqual(targetOf(url).sslMode, "verify-full")
      assert.strictEqual(connectionOptions(url).ssl, true)
    }
  )

  it("follows sslmode", () => {
    for (const mode of ["disable", "allow", "prefer"]) {
      assert.notProperty(connectionOptions(`postgres://u:p@db.example.com/x?sslmode=${mode}`), "ssl")
    }
    for (const mode of ["require", "verify-ca", "verify-full"]) {
      assert.strictEqual(connectionOptions(`postgres://u:p@127.0.0.1/x?sslmode=${mode}`).ssl, true)
    }
  })

  it("trusts the certificate authorities of sslrootcert", () => {
    const folder = mkdtempSync(join(tmpdir(), "govoice-ca-"))
    try {
      const file = join(folder, "ca.pem")
      writeFileSync(file, "a certificate")
      const url = `postgres://u:p@db.example.com/x?sslrootcert=${encodeURIComponent(file)}`
      assert.isUndefined(faultOf(url))
      assert.deepStrictEqual(connectionOptions(url).ssl, { ca: "a certificate" })
      assert.strictEqual(connectionOptions("postgres://u:p@db.example.com/x?sslrootcert=system").ssl, true)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it("refuses an unknown sslmode, an unreadable sslrootcert, and broken escapes", () => {
    assert.match(faultOf("postgres://u:p@db/x?sslmode=no-verify") ?? "", /^must have an sslmode among: disable/)
    assert.strictEqual(
      faultOf("postgres://u:p@db/x?sslrootcert=/missing/ca.pem"),
      "names a file in sslrootcert that cannot be read (ENOENT)"
    )
    assert.match(faultOf("postgres://u:p@db/%zz") ?? "", /percent-encoded$/)
    assert.isUndefined(faultOf("postgres://u:p@db/x?sslmode=prefer&application_name=y"))
  })
})
