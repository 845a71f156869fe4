/** Uploads the archive of a batch to the storage of KSeF, again and again for a while. */
import type { KsefError } from "@govoice/ksef/client"
import type { SessionAnswers } from "@govoice/ksef/protocol"
import { Clock, Effect, Metric } from "effect"
import { classify, type Failure } from "./CallFailure.ts"
import * as KsefMetrics from "./KsefMetrics.ts"
import type { LaneContext } from "./LaneContext.ts"

/** Uploads are repeated until the time that the national system gives for them, or for less where another batch waits. */
const uploadForMs = 15 * 60_000
const contendedUploadForMs = 30_000
const uploadRetryMs = 5000

/** Makes the function that uploads an archive, and returns why it could not. */
export const make = ({ process: { batches, permits }, system }: LaneContext) =>
  Effect.fnUntraced(function* (
    part: SessionAnswers.PartUpload | undefined,
    encrypted: Uint8Array
  ): Effect.fn.Return<Failure | undefined> {
    if (part === undefined) {
      return { _tag: "unavailable", wasSent: false, message: "KSeF returned no address for the archive." }
    }
    const startedAt = yield* Clock.currentTimeMillis
    while (true) {
      const error: KsefError | undefined = yield* Effect.match(
        permits.withPermits(1)(system.client.uploadPart(part, encrypted)),
        { onFailure: (failed) => failed, onSuccess: () => undefined }
      )
      const failure = error === undefined ? undefined : classify(error)
      yield* Metric.update(KsefMetrics.calls("uploadPart", failure?._tag ?? "ok"), 1)
      if (failure?._tag !== "unavailable") return failure
      const uploadUntil = startedAt + (batches.isContended ? contendedUploadForMs : uploadForMs)
      if ((yield* Clock.currentTimeMillis) > uploadUntil) return failure
      yield* Effect.sleep(uploadRetryMs)
    }
  })
