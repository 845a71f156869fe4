/** While the file `FULL_LOG` exists, the disk has no room for a new segment of the log of an embedded Postgres. */
import fs, { existsSync } from "node:fs"
import { syncBuiltinESMExports } from "node:module"

const { openSync } = fs

fs.openSync = (path, ...rest) => {
  if (String(path).includes("pg_wal/xlogtemp") && existsSync(process.env["FULL_LOG"]!)) {
    throw Object.assign(new Error("ENOSPC: no space left on device, open"), {
      code: "ENOSPC",
      errno: -28,
      syscall: "open"
    })
  }
  return openSync(path, ...rest)
}
syncBuiltinESMExports()
