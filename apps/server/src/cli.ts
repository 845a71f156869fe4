#!/usr/bin/env node
/**
 * The executable `govoice`. It loads the command only if the version of Node is supported; an older one would fail with a
 * stack instead of a remedy. Help that the build has prepared needs no command.
 */
import { check } from "./commands/doctor/runtime.ts"
import * as preparedHelp from "./commands/preparedHelp.ts"

// A reader such as `head` that closes the pipe ends the command, as SIGPIPE ends other programs.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(128 + 13)
  throw error
})

const help = {
  file: new URL(preparedHelp.fileName, import.meta.url),
  env: process.env,
  output: process.stdout
}

const fault = check().find(({ level }) => level === "fault")
if (fault !== undefined) {
  console.error(`${fault.message} ${fault.remedy}`)
  process.exitCode = 1
} else if (!preparedHelp.print(process.argv.slice(2), help)) await import("./commands/runCommand.ts")
