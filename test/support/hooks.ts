/** A setup file: it is evaluated for each test file, also for those that share a process. */
import { afterEach } from "vitest"
import { runHooks } from "./afterTest.ts"

afterEach(runHooks)
