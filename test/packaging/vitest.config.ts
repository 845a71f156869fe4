/**
 * What is published, as strangers get it. Apart from `pnpm test`, because it builds and installs:
 *
 *     npx -y pnpm@12 run test:packaging
 */
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["*.packaging.ts"],
    globalSetup: ["support/pack.ts"],
    testTimeout: 120_000,
    hookTimeout: 180_000
  }
})
