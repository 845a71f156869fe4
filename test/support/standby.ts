/** A streaming replica of a cluster. */
import { spawnSync } from "node:child_process"
import { globSync, rmSync } from "node:fs"
import { join } from "node:path"
import { Client } from "pg"
import { Cluster } from "./cluster.ts"

/** Copies the files of a running cluster, as a base backup does. WAL is not copied. */
const copyFiles = (from: Cluster, to: Cluster): void => {
  // It fails for files that the server removes meanwhile, which WAL replays.
  spawnSync("cp", ["-a", `${from.directory}/.`, to.directory], { stdio: "ignore" })
  for (const name of ["postmaster.pid", "postmaster.opts"]) rmSync(join(to.directory, name), { force: true })
  for (const file of globSync("pg_wal/*", { cwd: to.directory })) {
    rmSync(join(to.directory, file), { recursive: true })
  }
}

/** Starts a standby of a cluster. It streams WAL under the name `standby`, from a port that leads to the cluster. */
export const startStandby = async (primary: Cluster, port: string): Promise<Cluster> => {
  const standby = new Cluster(primary.programs)
  const client = new Client({ connectionString: primary.url })
  await client.connect()
  try {
    await client.query("SELECT pg_backup_start('standby', fast => true)")
    copyFiles(primary, standby)
    const { rows } = await client.query<{ readonly labelfile: string }>("SELECT labelfile FROM pg_backup_stop(false)")
    standby.write("backup_label", rows[0]!.labelfile)
  } finally {
    await client.end()
  }
  standby.write("standby.signal", "")
  await standby.start({
    primary_conninfo: `host=127.0.0.1 port=${port} user=postgres application_name=standby`
  })
  return standby
}
