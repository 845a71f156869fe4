import { assert, describe, it } from "@effect/vitest"
import { Dispatcher, DispatcherError, type DispatcherOptions } from "@govoice/dispatcher"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { makeAuthority } from "./support/certificates.ts"
import { delivered, local, serveHttp, serveRaw, sleep, stable, until } from "./support/servers.ts"

const wait = (condition: () => boolean, what: string) => Effect.promise(() => until(condition, what))

const defect = (exit: Exit.Exit<unknown, unknown>): unknown =>
  Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined

/** A receiver that keeps an attempt in one phase. */
const phases: Record<
  string,
  () => Promise<{ url: string; options: DispatcherOptions; ready: () => boolean; gone: () => boolean }>
> = {
  "a lookup": async () => {
    const signals: Array<AbortSignal> = []
    const resolve = (_: string, { signal }: { signal: AbortSignal }) => {
      signals.push(signal)
      return new Promise<never>(() => {})
    }
    return {
      url: "http://name.test/",
      options: { ...local, resolve },
      ready: () => signals.length === 1,
      gone: () => signals[0]!.aborted
    }
  },
  "a TLS handshake": async () => {
    const receiver = await serveRaw(() => {})
    return {
      url: `https://name.test:${receiver.port}/`,
      options: local,
      ready: () => receiver.open === 1,
      gone: () => receiver.open === 0
    }
  },
  "waiting for the response": async () => {
    let received = false
    const receiver = await serveRaw(() => {
      received = true
    })
    return {
      url: `http://name.test:${receiver.port}/`,
      options: local,
      ready: () => received,
      gone: () => receiver.open === 0
    }
  },
  "an endless response head": async () => {
    let received = false
    const receiver = await serveRaw((socket) => {
      received = true
      const timer = setInterval(() => socket.write("HTTP/1.1 "), 5)
      socket.on("close", () => clearInterval(timer))
      socket.write("HTTP/1.1 200 OK\r\nx: ")
    })
    return {
      url: `http://name.test:${receiver.port}/`,
      options: local,
      ready: () => received,
      gone: () => receiver.open === 0
    }
  }
}

describe("Dispatcher", () => {
  for (const [phase, prepare] of Object.entries(phases)) {
    it.effect(`interruption in ${phase} closes the connection`, () =>
      Effect.gen(function* () {
        const { gone, options, ready, url } = yield* Effect.promise(prepare)
        yield* Effect.gen(function* () {
          const { send } = yield* Dispatcher
          const fiber = yield* Effect.forkChild(send({ url, body: "" }))
          yield* wait(ready, "the phase")
          yield* Fiber.interrupt(fiber)
          const exit = yield* Fiber.await(fiber)
          assert.isTrue(Exit.hasInterrupts(exit))
          yield* wait(gone, "the connection to close")
        }).pipe(Effect.provide(Dispatcher.layer(options)))
      })
    )

    it.effect(`closing the scope in ${phase} interrupts the attempt`, () =>
      Effect.gen(function* () {
        const { gone, options, ready, url } = yield* Effect.promise(prepare)
        const scope = yield* Scope.make()
        const { send } = yield* Scope.provide(Dispatcher.make(options), scope)
        const fiber = yield* Effect.forkChild(send({ url, body: "" }))
        yield* wait(ready, "the phase")
        yield* Scope.close(scope, Exit.void)
        const exit = yield* Fiber.await(fiber)
        assert.isTrue(Exit.hasInterrupts(exit))
        yield* wait(gone, "the connection to close")
      })
    )
  }

  it.effect("interruption while connecting closes the socket before it is connected", () =>
    Effect.gen(function* () {
      const receiver = yield* Effect.promise(() => serveHttp())
      yield* Effect.gen(function* () {
        const { send } = yield* Dispatcher
        const fiber = yield* Effect.forkChild(send({ url: `http://name.test:${receiver.port}/`, body: "" }), {
          startImmediately: true
        })
        // The answer takes two microtasks; connecting takes a turn of the event loop.
        yield* Effect.promise(async () => {
          for (let tick = 0; tick < 10; tick++) await Promise.resolve()
        })
        yield* Fiber.interrupt(fiber)
        yield* Effect.promise(() => sleep(50))
        assert.strictEqual(receiver.requests.length, 0)
        assert.strictEqual(receiver.open, 0)
      }).pipe(Effect.provide(Dispatcher.layer(local)))
    })
  )

  it.effect("interruption while waiting for a connection leaves the queue", () =>
    Effect.gen(function* () {
      const answers: Array<() => unknown> = []
      const receiver = yield* Effect.promise(() => serveHttp((_, response) => void answers.push(() => response.end())))
      yield* Effect.gen(function* () {
        const { send } = yield* Dispatcher
        const request = { url: `http://name.test:${receiver.port}/`, body: "" }
        const first = yield* Effect.forkChild(send(request), { startImmediately: true })
        const second = yield* Effect.forkChild(send(request), { startImmediately: true })
        const third = yield* Effect.forkChild(send(request), { startImmediately: true })
        yield* wait(() => receiver.requests.length === 1, "the first request")
        yield* Fiber.interrupt(second)
        answers[0]!()
        assert.deepEqual(stable(yield* Fiber.join(first)), delivered())
        yield* wait(() => receiver.requests.length === 2, "the second request")
        answers[1]!()
        assert.deepEqual(stable(yield* Fiber.join(third)), delivered())
        assert.strictEqual(receiver.requests.length, 2)
        assert.strictEqual(receiver.connections, 1)
      }).pipe(Effect.provide(Dispatcher.layer({ ...local, maxConnectionsPerTarget: 1 })))
    })
  )

  it.effect("closing the scope while a body is discarded closes the connection", () =>
    Effect.gen(function* () {
      const receiver = yield* Effect.promise(() =>
        serveRaw((socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n"))
      )
      const scope = yield* Scope.make()
      const { send } = yield* Scope.provide(Dispatcher.make(local), scope)
      assert.deepEqual(stable(yield* send({ url: `http://name.test:${receiver.port}/`, body: "" })), delivered())
      assert.strictEqual(receiver.open, 1)
      yield* Scope.close(scope, Exit.void)
      yield* wait(() => receiver.open === 0, "the connection to close")
    })
  )

  it.effect("a timeout of Effect around send closes the connection", () =>
    Effect.gen(function* () {
      const receiver = yield* Effect.promise(() => serveRaw(() => {}))
      yield* Effect.gen(function* () {
        const { send } = yield* Dispatcher
        const fast = Effect.promise(() => sleep(30))
        yield* Effect.raceFirst(send({ url: `http://name.test:${receiver.port}/`, body: "" }), fast)
        yield* wait(() => receiver.open === 0, "the connection to close")
      }).pipe(Effect.provide(Dispatcher.layer(local)))
    })
  )

  it.effect("a request that must not be sent is a defect", () =>
    Effect.gen(function* () {
      const { send } = yield* Dispatcher
      const exit = yield* Effect.exit(send({ url: "http://name.test/", body: "", headers: { host: "other.test" } }))
      const error = defect(exit)
      assert.instanceOf(error, DispatcherError)
      assert.strictEqual(error.code, "invalid_request")
    }).pipe(Effect.provide(Dispatcher.layer(local)))
  )

  it.effect("a request after the scope was closed is a defect", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { send } = yield* Scope.provide(Dispatcher.make(local), scope)
      yield* Scope.close(scope, Exit.void)
      const error = defect(yield* Effect.exit(send({ url: "http://name.test/", body: "" })))
      assert.instanceOf(error, DispatcherError)
      assert.strictEqual(error.code, "closed")
    })
  )

  it.effect("invalid options are a defect of the layer", () =>
    Effect.gen(function* () {
      const layer = Dispatcher.layer({ allowNetworks: ["nonsense"] })
      const error = defect(yield* Effect.exit(Effect.provide(Effect.asVoid(Dispatcher), layer)))
      assert.instanceOf(error, DispatcherError)
      assert.strictEqual(error.code, "invalid_options")
    })
  )

  it.effect("code after an attempt does not run inside of undici", () =>
    Effect.gen(function* () {
      const receiver = yield* Effect.promise(() => serveHttp())
      const { send } = yield* Dispatcher
      yield* send({ url: `http://name.test:${receiver.port}/`, body: "" })
      // A request made inside of its parser could enter the parser a second time.
      const stack = yield* Effect.sync(() => {
        const { stackTraceLimit } = Error
        Error.stackTraceLimit = 200
        const { stack } = new Error("where")
        Error.stackTraceLimit = stackTraceLimit
        return stack
      })
      assert.notMatch(stack!, /undici/)
    }).pipe(Effect.provide(Dispatcher.layer(local)))
  )

  it.effect("waiting attempts are served in order, also if new ones follow without a pause", () =>
    Effect.gen(function* () {
      const receiver = yield* Effect.promise(() => serveHttp())
      const { send } = yield* Dispatcher
      // An address needs no lookup, so the next attempt begins before a waiting one is served.
      const request = { url: `http://127.0.0.1:${receiver.port}/`, body: "" }
      let left = 1_200
      const worker = Effect.gen(function* () {
        let done = 0
        while (left > 0) {
          left--
          assert.deepEqual(stable(yield* send(request)), delivered())
          done++
        }
        return done
      })
      const counts = yield* Effect.all(
        Array.from({ length: 6 }, () => worker),
        { concurrency: "unbounded" }
      )
      assert.isAbove(Math.min(...counts) * 2, Math.max(...counts))
      assert.strictEqual(receiver.connections, 2)
    }).pipe(Effect.provide(Dispatcher.layer({ ...local, maxConnectionsPerTarget: 2 })))
  )

  it.effect("code after an attempt may send at once, also to another receiver", () =>
    Effect.gen(function* () {
      const authority = makeAuthority()
      const one = yield* Effect.promise(() => serveHttp())
      const two = yield* Effect.promise(() => serveHttp())
      yield* Effect.gen(function* () {
        const { send } = yield* Dispatcher
        const chain = Effect.gen(function* () {
          for (let turn = 0; turn < 50; turn++) {
            for (const { port } of [one, two]) {
              assert.deepEqual(stable(yield* send({ url: `http://name.test:${port}/`, body: "" })), delivered())
            }
          }
        })
        yield* Effect.all(
          Array.from({ length: 5 }, () => chain),
          { concurrency: "unbounded" }
        )
        assert.isAtMost(one.connections + two.connections, 10)
      }).pipe(Effect.provide(Dispatcher.layer({ ...local, tls: { ca: authority.cert } })))
    })
  )
})
