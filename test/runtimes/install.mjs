/**
 * Installs the runtimes for the tests of `@govoice/webhooks`: `node test/runtimes/install.mjs`. They take about 700 MB,
 * so they are not part of the workspace, and the tests skip missing ones.
 */
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { npm, runtimes } from "./runtimes.mjs"

if (runtimes.some(({ how, installed }) => how === npm && !installed())) {
  // With a shell, because npm is a script on Windows.
  execFileSync("npm install --no-package-lock --no-audit --no-fund", {
    cwd: import.meta.dirname,
    stdio: "inherit",
    shell: true
  })
}

for (const { name, installed, path, how } of runtimes) {
  console.log(`${installed() ? "there  " : "missing"}  ${name}  ${existsSync(path) ? path : how}`)
}
