import { assert, describe, it } from "@effect/vitest"
import { SqlError } from "effect/sql"
import { explain } from "../../src/database/explain.ts"
import * as SqlErrors from "../../src/database/SqlErrors.ts"

const unknown = (code: string, operation = "query") =>
  new SqlError.SqlError({
    reason: new SqlError.UnknownError({ cause: Object.assign(new Error("refused"), { code }), operation })
  })

describe("SqlErrors", () => {
  it.each([
    ["08006", "connection failure"],
    ["08P01", "a pooler without a server"],
    ["25006", "read-only transaction"],
    ["28P01", "wrong password"],
    ["28000", "refused by pg_hba.conf"],
    ["3D000", "missing database"],
    ["40001", "serialization failure"],
    ["40P01", "deadlock"],
    ["42501", "missing privilege"],
    ["53100", "disk full"],
    ["53300", "too many connections"],
    ["55000", "database that accepts no connections"],
    ["55P03", "lock timeout"],
    ["57014", "statement timeout"],
    ["57P01", "shutdown"],
    ["57P03", "starting up"],
    ["58030", "I/O error"]
  ])("classifies %s (%s) as transient", (code) => {
    assert.isTrue(SqlErrors.isTransient(unknown(code)))
    assert.isFalse(SqlErrors.isPermanent(unknown(code)))
  })

  it.each([
    ["0A000", "feature not supported"],
    ["21000", "cardinality violation"],
    ["22P05", "untranslatable character"],
    ["23505", "unique violation"],
    ["23514", "check violation"],
    ["25P02", "failed transaction"],
    ["40002", "integrity violation at commit"],
    ["42601", "syntax error"],
    ["42703", "missing column"],
    ["42P01", "missing table"],
    ["54000", "program limit"],
    ["XX000", "internal error"],
    ["", "no SQLSTATE"]
  ])("classifies %s (%s) as permanent", (code) => {
    assert.isTrue(SqlErrors.isPermanent(unknown(code)))
    assert.isFalse(SqlErrors.isTransient(unknown(code)))
  })

  it("classifies every failure to connect as transient, with any SQLSTATE", () => {
    for (const code of ["42704", "22023", "XX000", ""]) assert.isTrue(SqlErrors.isTransient(unknown(code, "connect")))
  })

  it("classifies errors without an SQLSTATE by the reason of the driver", () => {
    const cause = new Error("closed")
    const of = (reason: SqlError.SqlErrorReason) => SqlErrors.isTransient(new SqlError.SqlError({ reason }))
    assert.isTrue(of(new SqlError.ConnectionError({ cause })))
    assert.isTrue(of(new SqlError.StatementTimeoutError({ cause })))
    assert.isTrue(of(new SqlError.AuthenticationError({ cause, operation: "connect" })))
    assert.isFalse(of(new SqlError.SqlSyntaxError({ cause })))
  })

  it("classifies SQL errors only", () => {
    for (const error of [new Error("08006"), { code: "08006" }, undefined]) {
      assert.isFalse(SqlErrors.isTransient(error))
      assert.isFalse(SqlErrors.isPermanent(error))
    }
  })

  it("tells of a full disk what to do, at a connection too", () => {
    const url = "postgres://user:hidden@db.internal/govoice"
    assert.strictEqual(
      explain({ _tag: "Postgres", url }, unknown("53100", "connect")),
      "Postgres at db.internal:5432, database govoice: refused. Free space on the disk of Postgres, or give it more."
    )
  })
})
