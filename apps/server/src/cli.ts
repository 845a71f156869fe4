#!/usr/bin/env node
/**
 * The file behind `govoice`. It loads the command only where Node is new enough for it: an older one would stop at something
 * that it has not heard of, with a stack and no advice.
 */
import { check } from "./commands/doctor/runtime.ts"

const fault = check().find(({ level }) => level === "fault")
if (fault === undefined) await import("./commands/runCommand.ts")
else {
  console.error(`${fault.message} ${fault.remedy}`)
  process.exitCode = 1
}
