import { layer } from "@effect/vitest"
import { nameOf } from "../../support/liveFaults.ts"
import { assertReasons, faultCases } from "../../support/liveReasons.ts"
import { layerPostgres } from "../../support/TestDatabase.ts"

const cases = [faultCases["429"][0]!, faultCases["5xx"][0]!, faultCases["block-403"][0]!, faultCases["verdict"][0]!]

layer(layerPostgres, { timeout: "120 seconds", excludeTestServices: true })("live invoices that wait", (it) => {
  for (const one of cases) {
    it.effect(`show a reason within a minute: ${nameOf(one.fault)}`, () => assertReasons(one))
  }
})
