import { assert, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connectionOptions } from "../../src/database/connectionOptions.ts"
import { faultOf, targetOf } from "../../src/settings/postgresUrl.ts"

describe("targetOf", () => {
  it("reads host, port, database and user, and prefers parameters", () => {
    assert.deepInclude(targetOf("postgres://u%40x:secret@db.example.com:6432/name"), {
      host: "db.example.com",
      port: "6432",
      database: "name",
      user: "u@x"
    })
    assert.deepInclude(targetOf("postgres://a:b@c:1/d?host=/var/run/postgresql&port=2&dbname=e&user=f"), {
      host: "/var/run/postgresql",
      port: "2",
      database: "e",
      user: "f"
    })
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
