import { packageConfig } from "../../tsup.config.base.ts"

export default packageConfig(
  {
    client: "src/client.ts",
    crypto: "src/crypto.ts",
    format: "src/format.ts",
    protocol: "src/protocol.ts",
    xades: "src/xades.ts",
    xml: "src/xml.ts"
  },
  { target: "node22" }
)
