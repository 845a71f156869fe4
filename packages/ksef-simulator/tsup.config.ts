import { cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { packageConfig } from "../../tsup.config.base.ts"

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
}

const folderOf = (input: string): string | undefined => {
  for (let folder = dirname(input); folder.includes("node_modules/"); folder = dirname(folder)) {
    const path = join(folder, "package.json")
    if (existsSync(path) && "version" in (JSON.parse(readFileSync(path, "utf8")) as object)) return folder
  }
  return undefined
}

// Their licenses ask that the notice goes along with the code.
const notice = (folder: string): string => {
  const { license, name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest
  const [file] = globSync("{LICENSE,LICENCE,license}*", { cwd: folder })
  const text = file === undefined ? `License: ${license}` : readFileSync(join(folder, file), "utf8").trim()
  return `## ${name} ${version} (${license ?? "see below"})\n\n${text}\n`
}

const notices = (metafile: string): string => {
  const { inputs } = JSON.parse(readFileSync(metafile, "utf8")) as {
    readonly inputs: Readonly<Record<string, unknown>>
  }
  const folders = new Set(Object.keys(inputs).flatMap((input) => folderOf(input) ?? []))
  const ministry = `## Files in data, of the Ministry of Finance (MIT)\n\n${readFileSync("src/data/LICENSE", "utf8").trim()}\n`
  return `# What is bundled in here\n\n${[ministry, ...[...folders].map(notice).sort()].join("\n")}`
}

export default packageConfig(
  { index: "src/index.ts", cli: "src/cli.ts" },
  {
    target: "node22",
    // The parts of the protocol that client and simulator share are private, and so is what they are made of.
    noExternal: [/^@govoice\//, /^effect($|\/)/, "saxes"],
    // Read as TypeScript, so that nothing has to be built first.
    esbuildOptions: (options) => {
      options.conditions = ["source", "module", "node"]
    },
    dts: { entry: { index: "src/index.ts" } },
    // Makes `import.meta.url` work in the CommonJS build.
    shims: true,
    metafile: true,
    onSuccess: async () => {
      // A license below the root would keep the packer from adding that of the repository: it goes into the notices.
      cpSync("src/data", "dist/data", { recursive: true, filter: (path) => !/LICENSE|README/.test(path) })
      cpSync("../ksef/src/data/xsd", "dist/data/xsd", { recursive: true })
      // The condition is for the sources, and not every `env` takes arguments.
      writeFileSync("dist/cli.js", readFileSync("dist/cli.js", "utf8").replace(/^#!.*/, "#!/usr/bin/env node"))
      for (const file of globSync("dist/metafile-*.json").filter((name) => !name.includes("esm"))) rmSync(file)
      writeFileSync("dist/THIRD-PARTY-NOTICES.md", notices("dist/metafile-esm.json"))
      rmSync("dist/metafile-esm.json")
    }
  }
)
