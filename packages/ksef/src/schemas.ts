/**
 * The published XML schemas, as files beside this module. It stands at the root of the sources, and every package that
 * bundles it copies the folder `data` beside its bundle, so that the path is the same everywhere.
 *
 * @module
 * @since 0.1.0
 */
import { readFileSync } from "node:fs"

/**
 * The schemas: of invoices, of the types that they import, and of the login document.
 *
 * @category models
 * @since 0.1.0
 */
export type SchemaFile =
  | "ElementarneTypyDanych_v10-0E.xsd"
  | "KodyKrajow_v10-0E.xsd"
  | "StrukturyDanych_v10-0E.xsd"
  | "schemat_FA(3)_v1-0E.xsd"
  | "schemat_FA_RR(1)_v1-1E.xsd"
  | "schemat_auth_v2-1.xsd"

/**
 * Reads a schema as text. Throws when the file is missing.
 *
 * **Details**
 *
 * Patterns of XML Schema have no anchors: `^` and `$` are characters there. The Ministry publishes the schema of the login document
 * with some around identifiers, which its own validator takes for anchors. They are left out.
 *
 * @category getters
 * @since 0.1.0
 */
export const schemaFile = (name: SchemaFile): string =>
  readFileSync(new URL(`./data/xsd/${name}`, import.meta.url), "utf8").replaceAll(
    /(<xsd:pattern value=")\^?([^"]*?)\$?("\/>)/g,
    "$1$2$3"
  )
