/**
 * Installs the runtimes that `@govoice/webhooks` is tried on: `node test/runtimes/install.mjs`. They take about 700 MB,
 * so they are no part of the workspace, and the tests do without what is not there.
 */
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { npm, runtimes } from "./runtimes.mjs"

if (runtimes.some(({ how, installed }) => how === npm && !installed())) {
  // Through a shell, because on Windows npm is a script.
  execFileSync("npm install --no-package-lock --no-audit --no-fund", {
    cwd: import.meta.dirname,
    stdio: "inherit",
    shell: true
  })
}

for (const { name, installed, path, how } of runtimes) {
  console.log(`${installed() ? "there  " : "missing"}  ${name}  ${existsSync(path) ? path : how}`)
}
