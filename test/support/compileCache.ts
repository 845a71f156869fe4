/**
 * Writes the modules that Node compiled in a test process into `NODE_COMPILE_CACHE`, after the tests of a file. The processes are
 * ended by a signal, with which Node itself writes nothing.
 */
import { flushCompileCache } from "node:module"
import { afterAll } from "vitest"

afterAll(() => flushCompileCache())
