import { defineConfig, type Options } from "tsup"

/** The entries that need effect. Effect is ESM only, so they have no CJS file. */
const needsEffect = ["effect"]

/** Builds an ESM file for each entry and a CJS file for each that does not need effect, with types. */
export const packageConfig = (entry: Record<string, string>, options: Options = {}) =>
  defineConfig({
    entry,
    format: ["esm", "cjs"],
    dts: true,
    clean: true,
    splitting: true,
    target: "node20",
    treeshake: true,
    ...options,
    esbuildOptions: (build, context) => {
      options.esbuildOptions?.(build, context)
      // The object is the same for both formats.
      if (context.format === "cjs")
        build.entryPoints = Object.fromEntries(Object.entries(entry).filter(([name]) => !needsEffect.includes(name)))
    }
  })
