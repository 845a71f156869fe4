/**
 * Builds what the image contains, without a container engine: copies the files that `Dockerfile.dockerignore` and the COPY lines
 * let in to an empty folder, and runs the commands of the Dockerfile there.
 *
 *     node .ci/imageWithoutEngine.mjs <empty folder>
 *
 * Afterwards the folder has `app`, as `/app` of the image, and `env`, a line for each variable of the image.
 */
import { execFileSync } from "node:child_process"
import { cpSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

const root = join(import.meta.dirname, "..")
const [folder] = process.argv.slice(2)
const app = join(folder, "app")
const read = (path) => readFileSync(join(root, path), "utf8")

const instructions = read("apps/server/Dockerfile")
  .replaceAll(/^#.*\n/gm, "")
  .replaceAll(/\\\n\s*/g, " ")
  .split("\n")
  .filter((line) => line.trim() !== "")
  .map((line) => ({ name: line.split(" ", 1)[0], text: line.slice(line.indexOf(" ") + 1).trim() }))

const stages = []
for (const instruction of instructions) {
  if (instruction.name === "FROM") stages.push([])
  else stages.at(-1).push(instruction)
}
const [build, image] = stages

// `**/` is any number of folders. A pattern also covers everything below what it names; the last one that matches decides.
const rules = read("apps/server/Dockerfile.dockerignore")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const pattern = line
      .replace(/^!/, "")
      .replaceAll(/[.+^${}()|[\]\\]/g, "\\$&")
      .replaceAll("**/", "(?:.*/)?")
      .replaceAll(/(?<![.)])\*/g, "[^/]*")
    return { isIgnored: !line.startsWith("!"), pattern: new RegExp(`^${pattern}(?:/|$)`) }
  })

const isIgnored = (path) => rules.findLast(({ pattern }) => pattern.test(path))?.isIgnored ?? false

const context = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], { cwd: root })
  .toString()
  .split("\0")
  .filter((path) => path !== "" && !isIgnored(path) && lstatSync(join(root, path), { throwIfNoEntry: false }))

const env = { ...process.env }
let directory = folder

const variables = (text) => [...text.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value])

const copy = (text) => {
  const names = text.split(/ +/)
  const target = names.pop()
  for (const source of names) {
    const files = context.filter((path) => path === source || path.startsWith(`${source}/`))
    if (files.length === 0)
      throw new Error(`COPY ${source}: the context has no such file. Correct Dockerfile.dockerignore.`)
    for (const path of files) {
      const to = join(directory, target.endsWith("/") ? join(target, path) : target + path.slice(source.length))
      mkdirSync(dirname(to), { recursive: true })
      cpSync(join(root, path), to)
    }
  }
}

const steps = {
  WORKDIR: (path) => {
    directory = join(folder, path)
    mkdirSync(directory, { recursive: true })
  },
  ENV: (text) => Object.assign(env, Object.fromEntries(variables(text))),
  COPY: copy,
  RUN: (command) => {
    const here = command.replaceAll(/(?<= )\/app\b/g, app)
    console.log(`+ ${here}`)
    execFileSync("sh", ["-e", "-c", here], { cwd: directory, env, stdio: "inherit" })
  }
}

for (const { name, text } of build) {
  if (!Object.keys(steps).includes(name))
    throw new Error(`The build stage has a ${String(name)}, which this script does not know.`)
  steps[name](text)
}
const ofImage = image.filter(({ name }) => name === "ENV").flatMap(({ text }) => variables(text))
writeFileSync(join(folder, "env"), ofImage.map(([name, value]) => `${name}=${value}\n`).join(""))
