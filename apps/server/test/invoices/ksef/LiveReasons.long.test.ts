/** The reasons of waiting invoices under all faults that the simulator has. */
import { layer } from "@effect/vitest"
import { casesOf } from "../../../../../test/support/length.ts"
import { assertReasons, faultCases } from "../../support/liveReasons.ts"
import { layerPostgres } from "../../support/TestDatabase.ts"

layer(layerPostgres, { timeout: "10 minutes", excludeTestServices: true })("live invoices that wait", (it) => {
  for (const one of casesOf(Object.values(faultCases).flat(), (_, index) => index % 3 === 0)) {
    it.effect(`show a reason within a minute: ${JSON.stringify(one.fault)}`, () => assertReasons(one))
  }
})
