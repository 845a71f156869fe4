import { describe, it } from "vitest"
import { killLoop } from "./killLoop.ts"

describe("an embedded server that is killed 3 times under load", () => {
  it("loses no accepted invoice and no webhook", () => killLoop(3), 300_000)
})
