/** The commands of a guide, so that tests run what the guide says. */
import { readFileSync } from "node:fs"
import { join } from "node:path"

const guides = join(import.meta.dirname, "../../docs/guides")

/** Returns the shell block of a guide with this name after its language. */
export const commandsOf = (guide: string, name: string): string => {
  const text = readFileSync(join(guides, guide), "utf8")
  const [, block] = new RegExp(`^\`\`\`sh ${name}\\n([^]*?)^\`\`\`$`, "m").exec(text) ?? []
  if (block === undefined) throw new Error(`${guide} has no block ${name}`)
  return block
}
