import { packageConfig } from "../../tsup.config.base.ts"

export default packageConfig({ index: "src/index.ts", promise: "src/promise.ts" })
