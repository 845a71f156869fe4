/**
 * Reads request bodies within limits of size, time and memory.
 *
 * A body that arrives more slowly than the minimum rate ends. While the memory for large bodies is exhausted, so do bodies
 * that are older than the grace period, slowest first: a trickle cannot occupy the memory of others.
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, type Scope } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import { turnMs } from "../../limits/Slots.ts"
import type { ByteBudget, BodyShare } from "../../limits/ByteBudget.ts"

export interface BodyLimits {
  /** Bytes that have to arrive in a second, once the grace period is over. */
  readonly minBytesPerSecond: number
  /** How long a body may rest, and how much time bytes that came earlier can buy. */
  readonly graceMs: number
  /** How often the rates are checked. */
  readonly checkMs: number
  /** How long a body waits for memory. */
  readonly maxPauseMs: number
  /** A body of up to so many bytes takes no share of the memory, while all of these have up to so many. */
  readonly smallBytes: number
  readonly allSmallBytes: number
}

/** The limits of a deployment. */
export const limits: BodyLimits = {
  minBytesPerSecond: 16 * 1024,
  graceMs: 5000,
  checkMs: 1000,
  maxPauseMs: turnMs,
  smallBytes: 32 * 1024,
  allSmallBytes: 64 * 1024 * 1024
}

/** Why a body was not read. */
export type BodyFault = "aborted" | "chunks-too-small" | "no-turn" | "memory-exhausted" | "too-large" | "too-slow"

export interface ReadOptions {
  readonly maxBytes: number
  /** Counts the bytes of a large body for its owner. */
  readonly memory: ByteBudget
  readonly owner: string
}

export interface BodyReader {
  /** Reads the body and runs `onBody` with it, or `onFault`. The memory of the body is counted until that is done. */
  readonly withBody: <A, E, R, A2, E2, R2>(
    request: HttpServerRequest.HttpServerRequest,
    options: ReadOptions,
    handlers: {
      readonly onBody: (body: Buffer<ArrayBuffer>) => Effect.Effect<A, E, R>
      readonly onFault: (fault: BodyFault) => Effect.Effect<A2, E2, R2>
    }
  ) => Effect.Effect<A | A2, E | E2, R | R2>
}

const expectsContinue = /(?:^|\W)100-continue(?:$|\W)/i

/** One body on its way. */
class Reading {
  readonly memory: ByteBudget
  share: BodyShare | undefined
  received = 0
  /** The bytes that are counted among those of all small bodies. */
  small = 0
  isPaused = false
  onFault: ((fault: BodyFault) => void) | undefined
  private readonly startedAt: number
  private activeMs = 0
  private pausedMs = 0
  private creditMs: number
  private uncredited = 0
  private checkedAt: number
  private readonly limits: BodyLimits

  constructor(memory: ByteBudget, limits: BodyLimits, now: number) {
    this.memory = memory
    this.limits = limits
    this.creditMs = limits.graceMs
    this.startedAt = now
    this.checkedAt = now
  }

  receive(bytes: number): void {
    this.received += bytes
    this.uncredited += bytes
  }

  /** Accounts for the time since the last check. A late check, of a busy process, charges a body for two intervals only. */
  check(now: number): void {
    const elapsedMs = Math.min(now - this.checkedAt, 2 * this.limits.checkMs)
    this.checkedAt = now
    if (this.isPaused) {
      this.pausedMs += elapsedMs
      return
    }
    this.activeMs += elapsedMs
    const earnedMs = (this.uncredited / this.limits.minBytesPerSecond) * 1000
    this.uncredited = 0
    this.creditMs = Math.min(this.creditMs - elapsedMs + earnedMs, this.limits.graceMs)
  }

  get isTooSlow(): boolean {
    return this.creditMs < 0
  }

  get waitsTooLong(): boolean {
    return this.pausedMs > this.limits.maxPauseMs
  }

  isPastGrace(now: number): boolean {
    return now - this.startedAt > this.limits.graceMs
  }

  /** The rate over the time that the body was not paused. */
  get bytesPerMs(): number {
    return this.received / this.activeMs
  }
}

/**
 * The bytes of a body, in one buffer. The client chooses in which pieces they come, and each is an object of a hundred bytes.
 */
class Bytes {
  private buffer: Buffer<ArrayBuffer> = Buffer.alloc(0)
  private length = 0
  private readonly maxLength: number

  constructor(maxLength: number) {
    this.maxLength = maxLength
  }

  add(piece: Buffer<ArrayBuffer>): void {
    const length = this.length + piece.length
    // Most bodies are one piece, which is not copied.
    if (this.length === 0) this.buffer = piece
    else {
      if (length > this.buffer.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(length, Math.min(2 * length, this.maxLength)))
        this.buffer.copy(larger, 0, 0, this.length)
        this.buffer = larger
      }
      piece.copy(this.buffer, this.length)
    }
    this.length = length
  }

  all(): Buffer<ArrayBuffer> {
    return this.buffer.subarray(0, this.length)
  }
}

// The parser takes as long for a chunk as for a kibibyte in one.
const hasTooManyChunks = (chunks: number, bytes: number): boolean => chunks > 1000 + bytes / 16

/** How many bytes the small bodies have together. */
interface Small {
  used: number
}

const readAll = (
  reading: Reading,
  source: IncomingMessage,
  { maxBytes, memory, owner }: ReadOptions,
  { allSmallBytes, smallBytes }: BodyLimits,
  small: Small
): Effect.Effect<Buffer<ArrayBuffer>, BodyFault> =>
  Effect.callback<Buffer<ArrayBuffer>, BodyFault>((resume) => {
    const announced = source.headers["content-length"]
    const length = announced === undefined ? undefined : Number(announced)
    const bytes = new Bytes(Math.min(length ?? maxBytes, maxBytes))

    const onTurn = () => {
      reading.check(performance.now())
      reading.isPaused = false
      source.resume()
    }
    const hasRoomFor = (bytes: number): boolean => {
      if (reading.share !== undefined) return reading.share.add(bytes)
      if (reading.received <= smallBytes && small.used + bytes <= allSmallBytes) {
        reading.small += bytes
        small.used += bytes
        return true
      }
      reading.share = memory.open(owner, length, onTurn)
      small.used -= reading.small
      reading.small = 0
      return reading.share.add(reading.received)
    }
    let chunks = 0
    const onData = (chunk: Buffer<ArrayBuffer>) => {
      reading.receive(chunk.length)
      if (announced === undefined && hasTooManyChunks(++chunks, reading.received)) {
        return stop(Effect.fail("chunks-too-small"))
      }
      if (reading.received > maxBytes) return stop(Effect.fail("too-large"))
      bytes.add(chunk)
      if (hasRoomFor(chunk.length) || reading.received === length) return
      reading.check(performance.now())
      reading.isPaused = true
      source.pause()
    }
    const onEnd = () => {
      reading.share?.complete()
      stop(Effect.succeed(bytes.all()))
    }
    const onError = () => stop(Effect.fail("aborted"))
    const stop = (result: Effect.Effect<Buffer<ArrayBuffer>, BodyFault>) => {
      cleanUp()
      resume(result)
    }
    const cleanUp = () => {
      reading.onFault = undefined
      source.off("data", onData).off("end", onEnd).off("error", onError)
      if (!source.readableEnded) source.pause()
    }

    reading.onFault = (fault) => stop(Effect.fail(fault))
    source.on("data", onData).on("end", onEnd).on("error", onError)
    return Effect.sync(cleanUp)
  })

/** Makes the reader. It checks the rates of all bodies until its scope closes. */
export const make = (limits: BodyLimits): Effect.Effect<BodyReader, never, Scope.Scope> =>
  Effect.gen(function* () {
    const readings = new Set<Reading>()
    const small: Small = { used: 0 }

    const endSlowest = (now: number): void => {
      const slowestFirst = [...readings]
        .filter((reading) => reading.share !== undefined && reading.isPastGrace(now))
        .sort((a, b) => a.bytesPerMs - b.bytesPerMs)
      for (const { memory, onFault, share } of slowestFirst) {
        if (!memory.isExhausted()) continue
        onFault?.("memory-exhausted")
        share?.close()
      }
    }
    const checkAll = (): void => {
      const now = performance.now()
      for (const reading of readings) {
        reading.check(now)
        if (reading.isTooSlow) reading.onFault?.("too-slow")
        if (reading.waitsTooLong) reading.onFault?.("no-turn")
      }
      endSlowest(now)
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => setInterval(checkAll, limits.checkMs).unref()),
      (timer) => Effect.sync(() => clearInterval(timer))
    )

    return {
      withBody: (request, options, { onBody, onFault }) =>
        Effect.suspend(() => {
          const source = NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage
          const reading = new Reading(options.memory, limits, performance.now())
          readings.add(reading)
          if (expectsContinue.test(source.headers.expect ?? "")) {
            ;(NodeHttpServerRequest.toServerResponse(request) as ServerResponse).writeContinue()
          }
          return readAll(reading, source, options, limits, small).pipe(
            Effect.ensuring(Effect.sync(() => readings.delete(reading))),
            Effect.matchEffect({ onFailure: onFault, onSuccess: onBody }),
            Effect.ensuring(
              Effect.sync(() => {
                reading.share?.close()
                small.used -= reading.small
              })
            )
          )
        })
    }
  })
