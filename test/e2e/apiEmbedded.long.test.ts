/** The API of the contract over HTTP, against the server as a process on the embedded database. */
import { testDatabase } from "./api/database.ts"
import { databases } from "./support/databases.ts"

testDatabase(databases[1], () => {})
