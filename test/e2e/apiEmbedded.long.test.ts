/** The API of the contract over HTTP, against the server as a process on the embedded database. */
import { testDatabase } from "./api/database.ts"
import { openEmbedded } from "./support/databases.ts"

testDatabase({ name: "the embedded database", open: openEmbedded }, () => {})
