import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as crypto from "node:crypto"
import { vi } from "vitest"
import { makePair } from "../../../../../packages/ksef/test/support/certificates.ts"
import { checkGatewayCredential } from "../../../src/invoices/ksef/checkGatewayCredential.ts"

const hashes = vi.hoisted(() => ({ begun: 0, running: 0, most: 0 }))

// A hash that takes 20 ms, and goes on when its caller is interrupted.
vi.mock("node:crypto", async (original) => ({
  ...(await original<typeof crypto>()),
  pbkdf2: (...parameters: ReadonlyArray<unknown>) => {
    hashes.begun += 1
    hashes.running += 1
    hashes.most = Math.max(hashes.most, hashes.running)
    setTimeout(() => {
      hashes.running -= 1
      const callback = parameters.at(-1) as (error: Error) => void
      callback(new Error("no key"))
    }, 20)
  }
}))

const checkOf = (owner: string, isEncrypted = true, network = owner) => {
  const pair = makePair({ key: "P-256" })
  const privateKey = crypto
    .createPrivateKey(pair.privateKey)
    .export({ type: "pkcs8", format: "pem", ...(isEncrypted ? { cipher: "aes-256-cbc", passphrase: "right" } : {}) })
    .toString()
  return checkGatewayCredential(
    {
      type: "certificate",
      certificate: pair.certificate,
      private_key: privateKey,
      ...(isEncrypted ? { private_key_password: "wrong" } : {}),
      context: { type: "Nip", value: "5265877635" }
    },
    { account: owner, network },
    Date.now()
  )
}

it.live("checkGatewayCredential lets accounts take turns with keys, encrypted or not", () =>
  Effect.gen(function* () {
    const ended: Array<string> = []
    const start = (owner: string, check: ReturnType<typeof checkOf>) =>
      Effect.forkChild(
        Effect.ensuring(
          Effect.exit(check),
          Effect.sync(() => ended.push(owner))
        ),
        { startImmediately: true }
      )
    const busy = yield* Effect.forEach(Array.from({ length: 20 }), () => start("busy", checkOf("busy")))
    // One is opened and four wait. The others are refused at once.
    assert.lengthOf(ended, 15)
    const stranger = yield* start("stranger", checkOf("stranger"))
    const plain = yield* start("plain", checkOf("plain", false))
    assert.isUndefined(plain.pollUnsafe(), "signing with a key costs, too")

    yield* Fiber.await(stranger)
    yield* Fiber.await(plain)
    assert.isAtMost(ended.slice(15).filter((owner) => owner === "busy").length, 2, "the strangers are next")
    yield* Effect.forEach(busy, (fiber) => Fiber.await(fiber))
    const refused = yield* Effect.forEach(busy, (fiber) => Effect.flatten(Fiber.join(fiber)).pipe(Effect.flip))
    assert.strictEqual(refused.filter(({ _tag }) => _tag === "NoSlot").length, 15)
    assert.strictEqual(refused.filter(({ _tag }) => _tag === "InvalidCredential").length, 5)
  })
)

it.live("checkGatewayCredential opens a key from another network next, however many accounts of one network wait", () =>
  Effect.gen(function* () {
    const ended: Array<string> = []
    const start = (account: string, network: string) =>
      Effect.forkChild(
        Effect.tap(Effect.flip(checkOf(account, true, network)), ({ _tag }) =>
          Effect.sync(() => ended.push(`${account} ${_tag}`))
        ),
        { startImmediately: true }
      )
    // As a /48, which one subscriber can have.
    const crowd = yield* Effect.forEach(
      Array.from({ length: 100 }, (_, n) => n),
      (n) => start(`crowd_${n % 25}`, `2001:db8:1:${n.toString(16)}::/64`)
    )
    const refused = ended.length
    assert.strictEqual(refused, 35)
    const stranger = yield* start("stranger", "203.0.113.1")
    yield* Fiber.await(stranger)
    assert.strictEqual(ended.at(-1), "stranger InvalidCredential")
    assert.isAtMost(ended.length - refused, 2, "one of the crowd is opened before")
    yield* Effect.forEach(crowd, (fiber) => Fiber.await(fiber))
    assert.strictEqual(ended.filter((name) => name.endsWith(" InvalidCredential")).length, 66)
  })
)

it.live("checkGatewayCredential refuses no account for the many networks of another", () =>
  Effect.gen(function* () {
    const crowd = yield* Effect.forEach(Array.from({ length: 70 }), (_, n) =>
      Effect.forkChild(Effect.flip(checkOf(`crowd_${n}`)), { startImmediately: true })
    )
    assert.strictEqual((yield* Effect.flip(checkOf("stranger")))._tag, "InvalidCredential")
    for (const { _tag } of yield* Effect.forEach(crowd, Fiber.join)) assert.strictEqual(_tag, "InvalidCredential")
  })
)

it.live("checkGatewayCredential opens one encrypted key at a time, also while requests are interrupted", () =>
  Effect.gen(function* () {
    const check = checkOf("acct_1")
    const fibers = yield* Effect.forEach(Array.from({ length: 10 }), () => Effect.forkChild(Effect.exit(check)))
    while (hashes.begun === 0) yield* Effect.sleep(1)
    for (const fiber of fibers) {
      yield* Effect.sleep(2)
      fiber.interruptUnsafe()
    }
    yield* Effect.forEach(fibers, (fiber) => Fiber.await(fiber))
    assert.isAbove(hashes.begun, 0)
    assert.strictEqual(hashes.most, 1)
  })
)
