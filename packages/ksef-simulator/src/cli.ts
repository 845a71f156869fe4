#!/usr/bin/env -S node --conditions=source
/**
 * The executable. Compiled modules are cached before the first one is loaded, which halves the time to start. An older Node
 * has no such cache, and would stop at a later line without advice.
 */
import * as nodeModule from "node:module"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
if (major > 22 || (major === 22 && minor >= 19)) {
  nodeModule.enableCompileCache()
  void import("./command.ts").then(({ main }) => main())
} else {
  process.stderr.write(`Node ${process.versions.node} is too old: >=22.19 is required. Install a newer Node.\n`)
  process.exitCode = 1
}
