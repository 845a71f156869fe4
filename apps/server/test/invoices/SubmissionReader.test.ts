import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as SubmissionReader from "../../src/invoices/SubmissionReader.ts"
import { readSubmission, type ReadSubmission } from "../../src/invoices/readSubmission.ts"
import * as TestSettings from "../support/TestSettings.ts"
import { hostile } from "../../../../packages/ksef/test/xml/hostile.ts"

const context = { mode: "test", scenario: "accepted" } as const
const organization = "org_01m7q5cqg0e6786ptds43fm4k3"
const other = "org_01m7q5cqg0e6786ptds43fm4k4"

const layer = (changes: { readonly perSecond?: number; readonly burst?: number } = {}) =>
  SubmissionReader.layer.pipe(
    Layer.provide(TestSettings.layer({ rateLimit: { ...TestSettings.settings().rateLimit, ...changes } }))
  )

const bodyOf = (value: unknown): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(JSON.stringify(value)))

const filled = (bytes: number) => bodyOf({ invoice_xml: `<a>${"ż".repeat(bytes / 2)}</a>` })

const read = (body: Uint8Array<ArrayBuffer>, organizationId: `org_${string}` = organization) =>
  Effect.flatMap(SubmissionReader.SubmissionReader, (reader) =>
    reader.read({ accountId: `acct_${organizationId}`, organizationId }, body, context)
  )

const resultOf = (body: Uint8Array<ArrayBuffer>) =>
  read(body).pipe(
    Effect.map((submission): ReadSubmission => ({ _tag: "Valid", submission })),
    Effect.catchTag("InvalidSubmission", ({ fault }) => Effect.succeed<ReadSubmission>({ _tag: "Invalid", fault }))
  )

// A body that a thread reads is transferred to it.
const wasReadInThread = (body: Uint8Array): boolean => body.byteLength === 0

const hex = (result: ReadSubmission) =>
  result._tag === "Invalid"
    ? result
    : {
        ...result.submission,
        requestHash: Buffer.from(result.submission.requestHash).toString("hex"),
        summary: { ...result.submission.summary, sha256: Buffer.from(result.submission.summary.sha256).toString("hex") }
      }

describe("SubmissionReader", () => {
  it.live("reads a body of 64 KiB on the event loop, and a larger one in a thread", () =>
    Effect.gen(function* () {
      const small = filled(65_536 - 64)
      const large = filled(65_536)
      yield* read(small)
      yield* read(large)
      assert.isFalse(wasReadInThread(small))
      assert.isTrue(wasReadInThread(large))
    }).pipe(Effect.provide(layer()))
  )

  it.live("returns the same result from a thread as on the event loop", () =>
    Effect.gen(function* () {
      const padding = "x".repeat(65_536)
      const metadata = JSON.parse('{"__proto__":"x","constructor":"y","":"","🔑":"ż"}') as unknown
      const values: ReadonlyArray<unknown> = [
        { invoice_xml: `<a>${padding}😀</a>`, metadata },
        { invoice_xml: `<F><Fa><P_2>${padding}</P_2><P_1>2026-01-02</P_1></Fa></F>` },
        { invoice_xml: `<a>\n${padding}</b>` },
        { invoice_xml: "<a/>", metadata: { a: padding } },
        { invoice_xml: "<a/>", [padding]: 1 },
        [padding],
        { invoice_xml: "\ud800".repeat(20_000) }
      ]
      for (const value of values) {
        const expected = readSubmission(bodyOf(value), context)
        assert.deepStrictEqual(hex(yield* resultOf(bodyOf(value))), hex(expected))
      }
    }).pipe(Effect.provide(layer()))
  )

  it.live("copies a body that is part of a larger buffer", () =>
    Effect.gen(function* () {
      const text = JSON.stringify({ invoice_xml: `<a>${"x".repeat(70_000)}</a>` })
      const buffer = Buffer.from(`before${text}after`)
      const body = new Uint8Array(buffer.buffer as ArrayBuffer, buffer.byteOffset + 6, text.length)
      yield* read(body)
      assert.strictEqual(buffer.toString(), `before${text}after`)
    }).pipe(Effect.provide(layer()))
  )

  it.live(
    "reads in a thread after an account has used its share of the event loop, and others on the event loop",
    () => {
      const expensive = () => bodyOf({ invoice_xml: `<a>${"<b/>".repeat(12_000)}</a>` })
      return Effect.gen(function* () {
        const bodies = Array.from({ length: 20 }, expensive)
        yield* Effect.forEach(bodies, (body) => read(body), { discard: true })
        assert.isFalse(wasReadInThread(bodies[0]!))
        assert.isTrue(wasReadInThread(bodies.at(-1)!))
        const undisturbed = expensive()
        yield* read(undisturbed, other)
        assert.isFalse(wasReadInThread(undisturbed))
      }).pipe(Effect.provide(layer({ perSecond: 1, burst: 10 })))
    }
  )

  it.live("lets every body wait for a thread, however many an organization sends at once", () =>
    Effect.gen(function* () {
      const bodies = Array.from({ length: 60 }, () => filled(70_000))
      const others = yield* Effect.forEach(
        [...bodies.map((body) => read(body)), read(filled(70_000), other)],
        (one) => one,
        {
          concurrency: "unbounded"
        }
      )
      assert.lengthOf(others, 61)
    }).pipe(Effect.provide(layer()))
  )

  it.live("reads a body before the longer ones of many organizations", () => {
    const finished: Array<number> = []
    return Effect.forEach(
      [...Array.from({ length: 10 }, () => 900_000), 70_000],
      (bytes, index) =>
        Effect.andThen(
          read(filled(bytes), `org_${index}`),
          Effect.sync(() => finished.push(bytes))
        ),
      { concurrency: "unbounded", discard: true }
    ).pipe(
      // One or two run.
      Effect.andThen(Effect.sync(() => assert.isAtMost(finished.indexOf(70_000), 2))),
      Effect.provide(layer())
    )
  })

  it.live("refuses a body when those of the organization that wait have 16 MiB, and no other", () =>
    Effect.gen(function* () {
      const tagOf = (body: Uint8Array<ArrayBuffer>, organizationId?: typeof other) =>
        read(body, organizationId).pipe(
          Effect.as("Read"),
          Effect.catch(({ _tag }) => Effect.succeed(_tag))
        )
      const many = Array.from({ length: 50 }, () => tagOf(filled(400_000)))
      const tags = yield* Effect.all([...many, tagOf(filled(70_000), other)], { concurrency: "unbounded" })
      const refused = tags.filter((tag) => tag === "SubmissionNotRead").length
      // One or two run, 41 wait.
      assert.include([7, 8], refused)
      assert.strictEqual(tags.at(-1), "Read")
    }).pipe(Effect.provide(layer()))
  )

  // In CPU time of this thread, because other processes share the machine. It includes all turns of the event loop. The least
  // of several measurements counts, because the clock of a thread is coarse on some systems.
  it.live("a body of a megabyte occupies the event loop for less than 10 ms", () =>
    Effect.gen(function* () {
      const millisecondsOf = Effect.fnUntraced(function* (xml: string) {
        const bodies = Array.from({ length: 3 }, () => bodyOf({ invoice_xml: xml }))
        const before = process.threadCpuUsage()
        yield* Effect.forEach(bodies, resultOf)
        const { system, user } = process.threadCpuUsage(before)
        return (system + user) / 1000 / bodies.length
      })
      yield* read(filled(70_000))
      for (const [what, xml] of hostile) {
        let least = Infinity
        for (let time = 0; time < 20 && least >= 10; time++) least = Math.min(least, yield* millisecondsOf(xml))
        assert.isBelow(least, 10, what)
      }
    }).pipe(Effect.provide(layer()))
  )
})
