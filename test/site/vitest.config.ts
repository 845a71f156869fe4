/**
 * Tests of the documentation site as it is built in `docs/api`. Separate from `pnpm test`, because the build takes a while:
 *
 *     npx -y pnpm@12 run docs && npx -y pnpm@12 run test:site
 */
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["*.site.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000
  }
})
