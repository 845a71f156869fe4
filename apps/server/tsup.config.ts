/**
 * Bundles the `govoice` command with the code of this repository and of Effect: the patched driver, too, so that an
 * installed server does not depend on the patch. Modules that are native, WebAssembly, or watched for security fixes are
 * dependencies: `dependencies` in package.json is that list.
 */
import { execFileSync } from "node:child_process"
import { cpSync, existsSync, globSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { defineConfig } from "tsup"

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
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
  // `licenses` has the text of a license that a package has in its repository alone.
  const ofRepository = join(import.meta.dirname, "licenses", `${name}.txt`)
  const [found] = globSync("{LICENSE,LICENCE,license}*", { cwd: folder })
  const file = found === undefined ? existsSync(ofRepository) && ofRepository : join(folder, found)
  // Given to the public domain: nothing has to go along.
  if (file === false && license === "Unlicense") return `## ${name} ${version} (${license})\n`
  if (file === false) throw new Error(`${name} is bundled, and has no license to go along`)
  return `## ${name} ${version} (${license ?? "see below"})\n\n${readFileSync(file, "utf8").trim()}\n`
}

interface Output {
  readonly entryPoint?: string
  readonly imports: ReadonlyArray<{ readonly path: string; readonly external?: boolean }>
  readonly inputs: Readonly<Record<string, unknown>>
}

const built = (metafile: string): Readonly<Record<string, Output>> =>
  (JSON.parse(readFileSync(metafile, "utf8")) as { readonly outputs: Readonly<Record<string, Output>> }).outputs

const reachable = (outputs: Readonly<Record<string, Output>>): ReadonlySet<string> => {
  const found = new Set<string>()
  const visit = (path: string): void => {
    if (found.has(path)) return
    found.add(path)
    for (const { external, path: next } of outputs[path]!.imports) if (external !== true) visit(next)
  }
  for (const [path, { entryPoint = "" }] of Object.entries(outputs)) if (entries.includes(entryPoint)) visit(path)
  return found
}

const consoleFolder = "../console"

// The packages that the console's page imports, itself or with the code that reads documents. `vite` bundles them with their
// dependencies.
const importedByConsole: ReadonlyArray<readonly [folder: string, name: string]> = [
  ...["@fontsource-variable/hanken-grotesk", "@tanstack/react-query", "react", "react-dom", "uqr", "wouter"].map(
    (name) => [consoleFolder, name] as const
  ),
  ["../../packages/ksef", "saxes"]
]

const foldersOfConsole = (): ReadonlyArray<string> => {
  const found = new Set<string>()
  const visit = (modules: string, name: string): void => {
    const folder = realpathSync(join(modules, name))
    if (found.has(folder)) return
    found.add(folder)
    const { dependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest
    for (const next of Object.keys(dependencies)) visit(join(folder, name.startsWith("@") ? "../.." : ".."), next)
  }
  for (const [folder, name] of importedByConsole) visit(join(folder, "node_modules"), name)
  return [...found]
}

// The font of PDFs, whose files are copied.
const font = realpathSync("node_modules/source-sans")

// The bundler leaves files behind that nothing imports any more.
const finish = (folder: string, hasConsole: boolean): void => {
  const metafile = join(folder, "metafile-esm.json")
  const outputs = built(metafile)
  const kept = reachable(outputs)
  for (const path of Object.keys(outputs)) if (!kept.has(path)) rmSync(path)
  const inputs = [...kept].flatMap((path) => Object.keys(outputs[path]!.inputs))
  const bundled = new Set(inputs.flatMap((input) => folderOf(input) ?? []))
  const notices = [...bundled, font, ...(hasConsole ? foldersOfConsole() : [])].map(notice).sort()
  writeFileSync(join(folder, "THIRD-PARTY-NOTICES.md"), `# What is bundled in here\n\n${notices.join("\n")}`)
  rmSync(metafile)
}

// The command, and the modules that it runs in threads and in the spare process.
const entry = {
  cli: "src/cli.ts",
  pdfThread: "src/invoices/pdf/pdfThread.ts",
  documentCheckThread: "src/invoices/checks/documentCheckThread.ts",
  spare: "src/runtime/spare.ts",
  submissionThread: "src/invoices/submissionThread.ts"
}
const entries: ReadonlyArray<string> = Object.values(entry)

export default defineConfig(({ outDir = "dist" }) => ({
  entry,
  format: "esm",
  platform: "node",
  target: "node22",
  noExternal: [/^effect($|\/)/, /^@effect\//, /^@govoice\//],
  // Read as TypeScript, so that nothing has to be built first.
  esbuildOptions: (options) => {
    options.conditions = ["source", "module", "node"]
  },
  // Bundled CommonJS modules call `require`, which a module of the other kind does not have.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module";const require = __createRequire(import.meta.url);'
  },
  removeNodeProtocol: false,
  clean: true,
  metafile: true,
  onSuccess: async () => {
    const built = join(consoleFolder, "dist")
    finish(outDir, existsSync(built))
    for (const script of ["packDatabase.ts", "packReference.ts"])
      execFileSync(process.execPath, ["--conditions=source", script, outDir], { stdio: "inherit" })
    cpSync("../../docs/guides", join(outDir, "guides"), { recursive: true, filter: (path) => !path.includes("images") })
    cpSync("../../docs/errors", join(outDir, "errors"), {
      recursive: true,
      filter: (path) => !path.endsWith("README.md")
    })
    for (const name of ["Guides.md", "Start.md"])
      cpSync(join("../../docs/contents", name), join(outDir, "contents", name))
    for (const name of ["TTF/SourceSans3-Regular.ttf", "TTF/SourceSans3-Semibold.ttf"])
      cpSync(join(font, name), join(outDir, "fonts", basename(name)))
    cpSync("../../packages/ksef/src/data", join(outDir, "data"), { recursive: true })
    for (const letters of ["latin", "latin-ext"]) {
      const file = `hanken-grotesk-${letters}-wght-normal.woff2`
      const from = join(consoleFolder, "node_modules/@fontsource-variable/hanken-grotesk/files", file)
      cpSync(from, join(outDir, "typeface", file))
    }
    cpSync(join(consoleFolder, "src/styles/typeface.css"), join(outDir, "typeface/typeface.css"))
    if (existsSync(built)) cpSync(built, join(outDir, "console"), { recursive: true })
  }
}))
