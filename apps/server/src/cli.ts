#!/usr/bin/env node
/**
 * The executable `govoice`. It loads the command only if the version of Node is supported; an older one would fail with a
 * stack instead of a remedy.
 */
import { check } from "./commands/doctor/runtime.ts"

const fault = check().find(({ level }) => level === "fault")
if (fault === undefined) await import("./commands/runCommand.ts")
else {
  console.error(`${fault.message} ${fault.remedy}`)
  process.exitCode = 1
}
