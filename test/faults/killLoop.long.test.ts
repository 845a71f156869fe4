/** `KILLS` sets how often the server is killed. */
import { describe, it } from "vitest"
import { killLoop } from "./killLoop.ts"

const kills = Number(process.env["KILLS"] ?? 50)

describe(`an embedded server that is killed ${kills} times under load`, () => {
  it("loses no accepted invoice and no webhook", () => killLoop(kills), 300_000 + kills * 30_000)
})
