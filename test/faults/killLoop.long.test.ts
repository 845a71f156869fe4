import { describe, it } from "vitest"
import { killLoop } from "./killLoop.ts"

describe("an embedded server that is killed 50 times under load", () => {
  it("loses no accepted invoice and no webhook", () => killLoop(50))
})
