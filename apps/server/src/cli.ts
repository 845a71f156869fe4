#!/usr/bin/env node
/**
 * The executable `govoice`. It loads the command only if the version of Node is supported; an older one would fail with a
 * stack instead of a remedy.
 */
import { checkRuntime } from "./commands/Finding.ts"

// A reader such as `head` that closes the pipe ends the command, as SIGPIPE ends other programs. A server goes on (`LogStreams.ts`).
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(128 + 13)
  throw error
})

const fault = checkRuntime().find(({ level }) => level === "fault")
if (fault !== undefined) {
  console.error(`${fault.message} ${fault.remedy}`)
  process.exitCode = 1
} else await import("./commands/runCommand.ts")
