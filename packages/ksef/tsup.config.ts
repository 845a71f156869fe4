import { cpSync } from "node:fs"
import { packageConfig } from "../../tsup.config.base.ts"

export default packageConfig(
  {
    checks: "src/checks.ts",
    client: "src/client.ts",
    crypto: "src/crypto.ts",
    format: "src/format.ts",
    protocol: "src/protocol.ts",
    reading: "src/reading.ts",
    schemas: "src/schemas.ts",
    xades: "src/xades.ts",
    xml: "src/xml.ts"
  },
  {
    target: "node22",
    // Makes `import.meta.url` work in the CommonJS build.
    shims: true,
    onSuccess: async () => cpSync("src/data", "dist/data", { recursive: true })
  }
)
