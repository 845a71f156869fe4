/**
 * Finds, compiles and runs the code blocks of pages and doc comments.
 *
 * A snippet is a complete module: it imports what it uses from the public entries of the packages.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import ts from "typescript"

const root = join(import.meta.dirname, "..", "..")

/** A fenced block of a page or of a doc comment. */
export interface Fence {
  /** Relative to the root. */
  readonly file: string
  /** The line of the opening fence, from 1. */
  readonly line: number
  /** The first word after the opening fence. */
  readonly language: string
  /** The text after the language. */
  readonly info: string
  readonly code: string
}

/** Finds the fenced blocks of a page. */
export const fences = (file: string, markdown: string): ReadonlyArray<Fence> => {
  const found: Array<Fence> = []
  const lines = markdown.split("\n")
  for (let index = 0; index < lines.length; index++) {
    const open = /^(?<indent>\s*)(?<fence>`{3,}|~{3,})\s*(?<language>[^\s`]*)(?<info>[^`]*)$/.exec(
      lines[index]!
    )?.groups
    if (open === undefined) continue
    const code: Array<string> = []
    const line = index + 1
    for (index++; index < lines.length && lines[index]!.trim() !== open["fence"]; index++) {
      code.push(lines[index]!.startsWith(open["indent"]!) ? lines[index]!.slice(open["indent"]!.length) : lines[index]!)
    }
    if (index === lines.length) throw new Error(`${file}:${line}: the block is never closed`)
    found.push({ file, line, language: open["language"]!, info: open["info"]!.trim(), code: code.join("\n") })
  }
  return found
}

/** Finds the fenced blocks in the doc comments of a module. */
export const docFences = (file: string, source: string): ReadonlyArray<Fence> => {
  // Replaces code with empty lines to keep the line numbers.
  let markdown = ""
  let end = 0
  for (const match of source.matchAll(/^[ \t]*\/\*\*[^]*?\*\//gm)) {
    markdown += source.slice(end, match.index).replaceAll(/[^\n]+/g, "")
    markdown += match[0].replaceAll(/^[ \t]*(?:\/\*\*|\*\/|\* ?)/gm, "")
    end = match.index + match[0].length
  }
  return fences(file, markdown)
}

/** Reads the files that match and finds their fenced blocks. */
export const read = (
  files: ReadonlyArray<string>,
  find: (file: string, text: string) => ReadonlyArray<Fence>
): ReadonlyArray<Fence> => files.flatMap((file) => find(file, readFileSync(join(root, file), "utf8")))

/** A folder where modules resolve like for a user of all packages. */
export interface Scratch {
  readonly path: (name: string) => string
  readonly remove: () => void
}

// Links every package of the workspace and its dependencies.
const linkPackages = (modules: string): void => {
  const link = (name: string, target: string): void => {
    const path = join(modules, name)
    if (existsSync(path)) return
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(realpathSync(target), path)
  }
  const workspaces = ["packages", "apps", "examples"].flatMap((folder) =>
    existsSync(join(root, folder)) ? readdirSync(join(root, folder)).map((name) => join(root, folder, name)) : []
  )
  for (const workspace of workspaces) {
    const manifest = join(workspace, "package.json")
    if (existsSync(manifest)) link((JSON.parse(readFileSync(manifest, "utf8")) as { name: string }).name, workspace)
  }
  for (const folder of [...workspaces, root]) {
    const installed = join(folder, "node_modules")
    if (!existsSync(installed)) continue
    for (const name of readdirSync(installed).filter((name) => !name.startsWith("."))) {
      const names = name.startsWith("@") ? readdirSync(join(installed, name)).map((part) => `${name}/${part}`) : [name]
      for (const name of names) link(name, join(installed, name))
    }
  }
}

/** Creates an empty scratch folder. */
export const makeScratch = (name: string): Scratch => {
  const folder = join(root, ".doctest", `${name}-${process.pid}`)
  rmSync(folder, { recursive: true, force: true })
  linkPackages(join(folder, "node_modules"))
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n')
  return { path: (name) => join(folder, name), remove: () => rmSync(folder, { recursive: true }) }
}

/** Compiles the blocks in one program and returns the errors of each as `file:line: message`. */
export const compile = (scratch: Scratch, blocks: ReadonlyArray<Fence>): ReadonlyMap<Fence, ReadonlyArray<string>> => {
  const base = ts.readConfigFile(join(root, "tsconfig.base.json"), (path) => ts.sys.readFile(path))
  const { options } = ts.convertCompilerOptionsFromJson(
    (base.config as { compilerOptions: unknown }).compilerOptions,
    root
  )
  const paths = new Map(blocks.map((block, index) => [block, scratch.path(`snippet-${index}.ts`)]))
  for (const [block, path] of paths) writeFileSync(path, block.code)
  const program = ts.createProgram([...paths.values()], {
    ...options,
    types: ["node"],
    typeRoots: [join(root, "node_modules", "@types")],
    moduleDetection: ts.ModuleDetectionKind.Force,
    // A snippet may leave a value unused.
    noUnusedLocals: false,
    noUnusedParameters: false
  })
  const setup = [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()]
  if (setup.length > 0)
    throw new Error(setup.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n")).join("\n"))
  return new Map(
    Array.from(paths, ([block, path]) => {
      const source = program.getSourceFile(path)!
      const diagnostics = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
      return [
        block,
        diagnostics.map(({ messageText, start }) => {
          const { line } = source.getLineAndCharacterOfPosition(start ?? 0)
          return `${block.file}:${block.line + 1 + line}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`
        })
      ]
    })
  )
}

/** Turns each statement that ends in `// => value`, there or on the next line, into an assertion. */
export const withAssertions = (code: string): string => {
  const source = ts.createSourceFile("example.ts", code, ts.ScriptTarget.Latest, true)
  let assertions = 0
  const statements = source.statements.map((statement) => {
    const expected = /^[ \t]*\n?[ \t]*\/\/ => (?<value>.+)/.exec(code.slice(statement.end))?.groups!["value"]
    if (expected === undefined || !ts.isExpressionStatement(statement)) return statement.getText()
    assertions++
    return `$assert.deepStrictEqual(${statement.expression.getText()}, ${expected})`
  })
  if (assertions !== code.split("// =>").length - 1)
    throw new Error("Only an expression can be followed by // => value")
  return ['import * as $assert from "node:assert/strict"', ...statements, "export {}"].join("\n")
}
