import { packageConfig } from "../../tsup.config.base.ts"

const entries = {
  index: "src/index.ts",
  effect: "src/effect.ts",
  testing: "src/testing.ts",
  express: "src/express.ts",
  fastify: "src/fastify.ts",
  node: "src/node.ts",
  web: "src/web.ts"
}

// Files of their own, so that the manifest's field `browser` can put one in the place of the other.
const exchanged = { fast: "src/internal/fast.ts", compact: "src/internal/compact.ts" }

export default packageConfig(
  { ...entries, ...exchanged },
  {
    dts: { entry: entries },
    esbuildPlugins: [
      {
        name: "exchanged",
        setup: (build) => {
          // Not of `format`: rollup makes the CJS files from ESM ones.
          const extension = build.initialOptions.outExtension![".js"]!
          build.onResolve({ filter: /\/fast\.ts$/ }, ({ kind }) =>
            kind === "entry-point" ? undefined : { path: `./fast${extension}`, external: true }
          )
        }
      }
    ]
  }
)
