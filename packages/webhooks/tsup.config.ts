import { packageConfig } from "../../tsup.config.base.ts"

export default packageConfig({
  index: "src/index.ts",
  effect: "src/effect.ts",
  testing: "src/testing.ts",
  express: "src/express.ts",
  fastify: "src/fastify.ts",
  node: "src/node.ts",
  web: "src/web.ts"
})
