/**
 * This package as it is published.
 */
import { join } from "node:path"
import { builtPackage } from "../../../../test/support/builtPackage.ts"

export const { build, dist, root } = builtPackage(join(import.meta.dirname, "../.."))
