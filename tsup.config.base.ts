import { defineConfig, type Options } from "tsup"

/** Builds one ESM and one CJS file for each entry, with types. */
export const packageConfig = (entry: Record<string, string>, options: Options = {}) =>
  defineConfig({
    entry,
    format: ["esm", "cjs"],
    dts: true,
    clean: true,
    splitting: true,
    target: "node20",
    treeshake: true,
    ...options
  })
