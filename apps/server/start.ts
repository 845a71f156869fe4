/** `pnpm start`: builds the console when it is missing or older than its sources, and runs the server from source. */
import { buildConsole } from "./buildConsole.ts"

await buildConsole()
await import("./src/main.ts")
