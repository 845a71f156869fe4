import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as crypto from "node:crypto"
import { vi } from "vitest"
import { makePair } from "../../../../packages/ksef/test/support/certificates.ts"
import { checkGatewayCredential } from "../../src/accounts/checkGatewayCredential.ts"

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

it.live("one encrypted key is opened at a time, also while requests are interrupted one after the other", () =>
  Effect.gen(function* () {
    const pair = makePair({ key: "P-256" })
    const privateKey = crypto
      .createPrivateKey(pair.privateKey)
      .export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "right" })
      .toString()
    const check = checkGatewayCredential(
      {
        type: "certificate",
        certificate: pair.certificate,
        private_key: privateKey,
        private_key_password: "wrong",
        context_nip: "5265877635"
      },
      Date.now()
    )
    const fibers = yield* Effect.forEach(Array.from({ length: 10 }), () => Effect.forkChild(Effect.exit(check)))
    for (const fiber of fibers) {
      yield* Effect.sleep(2)
      fiber.interruptUnsafe()
    }
    yield* Effect.forEach(fibers, (fiber) => Fiber.await(fiber))
    assert.isAbove(hashes.begun, 0)
    assert.strictEqual(hashes.most, 1)
  })
)
