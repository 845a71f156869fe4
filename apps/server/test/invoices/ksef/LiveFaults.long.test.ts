/** The faults that are not in `LiveFaults.integration.test.ts`. */
import { layer } from "@effect/vitest"
import { assertSurvived, nameOf, others } from "../../support/liveFaults.ts"
import { layerPostgresLive } from "../../support/TestDatabase.ts"

layer(layerPostgresLive, { timeout: "120 seconds", excludeTestServices: true })("live mode under faults", (it) => {
  for (const fault of others) {
    it.effect(`has each invoice accepted once: ${nameOf(fault)}`, () => assertSurvived(fault))
  }
})
