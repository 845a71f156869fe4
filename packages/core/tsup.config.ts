import { packageConfig } from "../../tsup.config.base.ts"

// No CJS: effect is ESM only.
export default packageConfig({ index: "src/index.ts" }, { format: ["esm"] })
