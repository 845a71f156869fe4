/**
 * Reads the files that come with the package. This module stands at the root of the sources, and is bundled into a file at
 * the root of the build, so that the folder beside it is the same in both.
 */
import { readFileSync } from "node:fs"

/** Reads a file of the folder `data` as text. */
export const dataFile = (name: string): string => readFileSync(new URL(`./data/${name}`, import.meta.url), "utf8")
