/** Runs the blocks of a guide, as a reader copies them, in one shell. */
import { spawn } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join, resolve } from "node:path"

const root = resolve(import.meta.dirname, "../../..")

/** A block of a guide. `saveAs` is the file that the sentence before it names. */
export interface Block {
  readonly language: string
  readonly text: string
  readonly saveAs: string | undefined
}

/** Returns the blocks of a page in order. */
export const blocksOf = (page: string): ReadonlyArray<Block> => {
  const text = readFileSync(join(root, page), "utf8")
  return Array.from(text.matchAll(/^```(\w+)\n([^]*?)^```$/gm), (match) => ({
    language: match[1]!,
    text: match[2]!,
    saveAs: /`([\w-]+\.mts)`[^`]*(?:`[^`]+`)?:\s*$/.exec(text.slice(0, match.index))?.[1]
  }))
}

/** Returns the shell commands that save or run a block. */
export const commandOf = ({ language, saveAs, text }: Block): string => {
  if (language === "sh") return text
  return saveAs === undefined ? "" : `cat > ${saveAs} <<'END OF FILE'\n${text}END OF FILE\n`
}

// The packages of this checkout in place of those of the registry. Anything else that is installed is a surprise.
const npm = `#!/bin/sh
[ "$1" = install ] || { echo "npm $*: unexpected" >&2; exit 1; }
shift
for name in "$@"; do
  case "$name" in
    --global | @govoice/server) ;;
    @govoice/*)
      mkdir -p node_modules/@govoice
      ln -sfn "$CHECKOUT/packages/\${name#@govoice/}" "node_modules/$name" ;;
    *) echo "npm install $name: unexpected" >&2; exit 1 ;;
  esac
done
`

// A server runs until it is ready, and is then stopped. A shell without a terminal has its children ignore SIGINT.
const govoice = `#!/bin/sh
[ "$1" = serve ] || exec "$NODE" "$COMMAND" "$@"
# Empty at once: the server that ran before in this folder has started too.
: > serve.log
"$NODE" "$COMMAND" serve >> serve.log & server=$!
until grep -q "Server started" serve.log; do
  kill -0 $server 2> /dev/null || exit 1
  sleep 0.1
done
kill -TERM $server
wait $server
`

const npx = `#!/bin/sh
[ "$1 $2" = "-y @govoice/server" ] || { echo "npx $*: unexpected" >&2; exit 1; }
shift 2
exec govoice "$@"
`

/** A folder to run blocks in, with `npm`, `npx` and `govoice` that use this checkout. */
export const makeDesk = (command: string) => {
  const folder = mkdtempSync(join(tmpdir(), "govoice-quick-start-"))
  const bin = join(folder, "bin")
  mkdirSync(bin)
  for (const [name, text] of Object.entries({ npm, npx, govoice })) {
    writeFileSync(join(bin, name), text)
    chmodSync(join(bin, name), 0o755)
  }

  const run = async (script: string, settings: Readonly<Record<string, string>> = {}) => {
    const child = spawn("bash", ["-euo", "pipefail", "-c", script], {
      cwd: folder,
      detached: true,
      env: {
        PATH: [bin, dirname(process.execPath), process.env["PATH"]].join(delimiter),
        HOME: folder,
        NODE: process.execPath,
        NODE_OPTIONS: "--conditions=source",
        CHECKOUT: root,
        COMMAND: command,
        ...settings
      },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk))
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk))
    // The group, because a block may leave a process running, such as the receiver.
    const killGroup = () => {
      try {
        process.kill(-child.pid!, "SIGKILL")
      } catch {
        // Nothing is left.
      }
    }
    const timer = setTimeout(killGroup, 300_000)
    const status = await new Promise<number | null>((ended) => child.once("exit", ended))
    clearTimeout(timer)
    killGroup()
    return { status, stdout, stderr }
  }

  return { folder, run, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
