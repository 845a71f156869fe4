/** Prints how many connections a server takes. */
import { limits } from "../../../src/http/transport/NodeServer.ts"

process.stdout.write(String(limits.maxConnections))
