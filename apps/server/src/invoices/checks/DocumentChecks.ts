/**
 * Checks documents against form, national rules and XML schema before they are stored, in threads.
 *
 * A check helps the sender; the verdict is the national system's. A document that cannot be checked, because its thread ended
 * or took too long, passes unchecked. One for which no thread becomes free within its wait is answered with 503, to be sent again.
 * `InvoicesHandlers` decides whether a document is checked.
 */
import { type DocumentChecker, Violation } from "@govoice/ksef/checks"
import { PolishTime } from "@govoice/ksef/format"
import { Clock, Context, Data, Effect, Layer, Metric } from "effect"
import { availableParallelism } from "node:os"
import * as Slots from "../../limits/Slots.ts"
import * as ThreadPool from "../../jobs/ThreadPool.ts"
import * as EngineMetrics from "../../observability/EngineMetrics.ts"
import { Settings } from "../../settings/Settings.ts"
import type { DocumentCheckJob } from "./documentCheckThread.ts"

/** The document violates what it was checked against. */
export class InvalidDocument extends Data.TaggedError("InvalidDocument")<{
  /** Names each violation with line, column and path. */
  readonly message: string
}> {}

/** No thread became free in time. */
export class DocumentNotChecked extends Data.TaggedError("DocumentNotChecked") {}

/** Checks documents. */
export class DocumentChecks extends Context.Service<
  DocumentChecks,
  {
    /** Whether documents of live keys are checked. */
    readonly appliesToLive: boolean
    /**
     * Checks a well-formed document as the environment of the deployment does, or as production does for a document of the
     * sandbox. Returns what KSeF takes, and the seller should look at; nothing for one that passes unchecked.
     */
    readonly check: (
      owner: Slots.Owner,
      mode: "live" | "test",
      xml: string
    ) => Effect.Effect<ReadonlyArray<Violation.Warning>, DocumentNotChecked | InvalidDocument>
  }
>()("@govoice/server/invoices/checks/DocumentChecks") {}

// Beside a thread, the event loop and Postgres need processors, too.
const threads = availableParallelism() >= 4 ? 2 : 1

// Of the documents that wait, in UTF-16 code units. Those that are not small hold memory that `ByteBudget` admitted.
const maxWaitingLength = 64 * 1024 * 1024

/** The module that runs in the threads. */
export const threadEntry = new URL(
  `./documentCheckThread.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`,
  import.meta.url
)

/** The time limit for each document. */
export const timeoutMs = 5000

const environmentOf = (id: string | undefined): DocumentChecker.CheckOptions["environment"] =>
  id === "test" || id === "demo" || id === "prod" ? id : "custom"

/** Options for tests. */
export interface Options {
  readonly entry: URL
  readonly timeoutMs: number
  readonly threads?: number
  readonly maxWaitMs?: number
}

/** Provides `DocumentChecks`. */
export const layerWith = (options: Options): Layer.Layer<DocumentChecks, never, Settings> =>
  Layer.effect(
    DocumentChecks,
    Effect.gen(function* () {
      const { documentChecks, ksef } = yield* Settings
      const pool = yield* ThreadPool.make<DocumentCheckJob, Violation.Report>(
        {
          name: "documentChecks",
          threads,
          maxSize: maxWaitingLength,
          maxSizePerGroup: maxWaitingLength / 4,
          // Some 1 µs a letter. Anybody can have a hundred organizations, and the documents of live invoices are checked here.
          costOfSize: 0.001,
          maxWaitMs: Slots.turnMs,
          ...options
        },
        // Checked in 5 ms or so.
        { maxJobs: 32, maxSize: 64 * 1024, sizeOf: ({ xml }) => xml.length }
      )

      const passUnchecked = (reason: string) =>
        Metric.update(EngineMetrics.documentChecks("skipped"), 1).pipe(
          Effect.andThen(Effect.logWarning("Document not checked; passed on")),
          Effect.annotateLogs({ reason }),
          Effect.as([])
        )

      const report = (checked: Violation.Report) => {
        const message = Violation.format(checked)
        return Metric.update(EngineMetrics.documentChecks(message === undefined ? "valid" : "invalid"), 1).pipe(
          Effect.andThen(
            message === undefined ? Effect.succeed(checked.warnings) : Effect.fail(new InvalidDocument({ message }))
          )
        )
      }

      return {
        appliesToLive: documentChecks === "schema",
        check: Effect.fn("DocumentChecks.check")(function* (owner, mode, xml) {
          const today = PolishTime.day(yield* Clock.currentTimeMillis)
          // The sandbox judges as production does.
          const environment = mode === "live" ? environmentOf(ksef.environmentId) : "prod"
          return yield* pool.run(owner, { xml, options: { today, environment } }, [], xml.length).pipe(
            Effect.matchEffect({
              onSuccess: report,
              onFailure: (error): Effect.Effect<ReadonlyArray<Violation.Warning>, DocumentNotChecked> =>
                error._tag === "ThreadLost" ? passUnchecked("thread lost") : Effect.fail(new DocumentNotChecked())
            })
          )
        })
      }
    })
  )

/** Provides `DocumentChecks`, with 5 s for each document. */
export const layer = layerWith({ entry: threadEntry, timeoutMs })
