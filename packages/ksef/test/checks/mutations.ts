/**
 * Holds the checker to libxml2's verdict over many mutated documents.
 */
import { DocumentChecker, Violation } from "@govoice/ksef/checks"
import { schemaFile } from "@govoice/ksef/schemas"
import { assert } from "@effect/vitest"
import * as fc from "fast-check"
import * as Libxml2 from "../xml/libxml2.ts"
import { mutated } from "./fuzz.ts"

const importBase = "http://crd.gov.pl/xml/schematy/dziedzinowe/mf/2022/01/05/eD/DefinicjeTypy/"

/** The imports of the published schemas, by address. */
export const imported: ReadonlyMap<string, string> = new Map(
  (["StrukturyDanych_v10-0E.xsd", "ElementarneTypyDanych_v10-0E.xsd", "KodyKrajow_v10-0E.xsd"] as const).map((name) => [
    `${importBase}${name}`,
    schemaFile(name)
  ])
)

const options: DocumentChecker.CheckOptions = { today: "2026-11-22", environment: "demo" }

/** Checks `count` documents. Returns how many were refused. */
export const run = async (count: number, seed: number): Promise<number> => {
  const checker = await DocumentChecker.load()
  const validators = [schemaFile("schemat_FA(3)_v1-0E.xsd"), schemaFile("schemat_FA_RR(1)_v1-1E.xsd")].map((xsd) =>
    Libxml2.validator(xsd, imported)
  )
  let refused = 0
  fc.assert(
    fc.property(mutated, (xml) => {
      const startedAt = performance.now()
      const report = checker.check(xml, options)
      assert.isBelow(performance.now() - startedAt, 5000)
      const isValid = validators.some((validate) => validate(xml) === undefined)
      const ofRules = report.violations.some(({ message }) => rules.test(message))
      if (report.count > 0) refused++
      // The checker rejects each document that libxml2 rejects, and others only by a rule of KSeF or of strict XML.
      if (!isValid) assert.isAbove(report.count, 0)
      else if (report.count > 0) assert.isTrue(ofRules, Violation.format(report))
      const text = Violation.format(report)
      assert.isBelow(text?.length ?? 0, 4000)
      for (const { column, line } of report.violations) {
        assert.isAbove(line, 0)
        assert.isAbove(column, 0)
      }
    }),
    { numRuns: count, seed }
  )
  return refused
}

// The sentences of the rules that are not in the schema, and of a document that only the strict parser refuses.
const rules =
  /byte order mark|processing instructions|is not allowed; remove it|later than today|check digit|is not well-formed|DOCTYPE/
