/**
 * Prints the public surface of a package: every export of every entry with its declaration in the built types, and the private
 * declarations that they use. Comments are omitted and the order is normalized.
 */
import { readFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import ts from "typescript"

interface Manifest {
  readonly name: string
  readonly publishConfig: { readonly exports: Readonly<Record<string, Target | string>> }
}

type Target = { readonly types: string } | { readonly import: { readonly types: string } }

const printer = ts.createPrinter({ removeComments: true, newLine: ts.NewLineKind.LineFeed })

const byText = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

// The compiler orders the members of a union by first use.
const inOrder = (source: ts.SourceFile, node: ts.Node): ts.Node => {
  const { transformed } = ts.transform(node, [
    (context) => (root) => {
      const visit = (child: ts.Node): ts.Node => {
        const visited = ts.visitEachChild(child, visit, context)
        if (!ts.isUnionTypeNode(visited)) return visited
        const members = visited.types.map(
          (type) => [printer.printNode(ts.EmitHint.Unspecified, type, source), type] as const
        )
        members.sort(([left], [right]) => byText(left, right))
        return context.factory.createUnionTypeNode(members.map(([, type]) => type))
      }
      return ts.visitNode(root, visit)
    }
  ])
  return transformed[0]!
}

// The declarations of a package in its built types.
class Surface {
  private readonly checker: ts.TypeChecker
  private readonly folder: string
  /** Private declarations that public ones use, by their text. */
  private readonly needed = new Map<ts.Node, string>()
  private readonly exported = new Set<ts.Symbol>()

  constructor(program: ts.Program, folder: string) {
    this.checker = program.getTypeChecker()
    this.folder = folder
  }

  private resolve(symbol: ts.Symbol): ts.Symbol {
    return this.through(symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol)
  }

  private isOwn(node: ts.Node): boolean {
    return node.getSourceFile().fileName.startsWith(this.folder)
  }

  // The bundler of types writes a namespace as `export { Space_name as name }` beside `const Space_name: typeof name` or
  // `type Space_name = name`. The names in between change with anything, so they are looked through.
  private through(symbol: ts.Symbol): ts.Symbol {
    const [declaration] = symbol.declarations ?? []
    if (declaration === undefined || !symbol.name.includes("_") || !this.isOwn(declaration)) return symbol
    const target =
      ts.isVariableDeclaration(declaration) && declaration.type !== undefined && ts.isTypeQueryNode(declaration.type)
        ? declaration.type.exprName
        : ts.isTypeAliasDeclaration(declaration) && ts.isTypeReferenceNode(declaration.type)
          ? declaration.type.typeName
          : undefined
    const found = target && this.checker.getSymbolAtLocation(target)
    return found !== undefined && symbol.name.endsWith(`_${found.name.replace(/\$\d+$/, "")}`)
      ? this.resolve(found)
      : symbol
  }

  // A variable is printed with its statement to keep `const`.
  private whole(node: ts.Declaration): ts.Node {
    return ts.isVariableDeclaration(node) ? node.parent.parent : node
  }

  private text(node: ts.Node): string {
    const source = node.getSourceFile()
    const printed = printer.printNode(ts.EmitHint.Unspecified, inOrder(source, node), source)
    // The bundler numbers equal names of two modules; the numbers are unstable.
    return printed.replace(/^(?:export |declare |default )+/, "").replaceAll(/\b(\w+)\$\d+\b/g, "$1")
  }

  private exportsOf(module: ts.Symbol): ReadonlyArray<ts.Symbol> {
    return [...this.checker.getExportsOfModule(module)].sort((a, b) => byText(a.name, b.name))
  }

  private isModule(symbol: ts.Symbol): boolean {
    return symbol.declarations?.some((node) => ts.isSourceFile(node) || ts.isModuleDeclaration(node)) === true
  }

  private need(node: ts.Node): void {
    const visit = (child: ts.Node): void => {
      if (ts.isIdentifier(child)) this.needSymbol(this.checker.getSymbolAtLocation(child))
      ts.forEachChild(child, visit)
    }
    ts.forEachChild(node, visit)
  }

  private needSymbol(found: ts.Symbol | undefined): void {
    if (found === undefined) return
    const symbol = this.resolve(found)
    if (this.exported.has(symbol)) return
    for (const declaration of symbol.declarations ?? []) {
      const isStatement =
        ts.isInterfaceDeclaration(declaration) ||
        ts.isTypeAliasDeclaration(declaration) ||
        ts.isClassDeclaration(declaration) ||
        ts.isFunctionDeclaration(declaration) ||
        ts.isVariableDeclaration(declaration)
      if (!isStatement || !this.isOwn(declaration)) continue
      const node = this.whole(declaration)
      if (this.needed.has(node)) continue
      this.needed.set(node, this.text(node))
      this.need(node)
    }
  }

  private mark(module: ts.Symbol): void {
    for (const found of this.exportsOf(module)) {
      const symbol = this.resolve(found)
      if (this.exported.has(symbol)) continue
      this.exported.add(symbol)
      if (this.isModule(symbol)) this.mark(symbol)
    }
  }

  private list(module: ts.Symbol, prefix: string): ReadonlyArray<string> {
    return this.exportsOf(module).flatMap((found) => {
      const symbol = this.resolve(found)
      const name = `${prefix}${found.name}`
      const members = this.isModule(symbol) ? this.list(symbol, `${name}.`) : []
      const own = (symbol.declarations ?? []).filter((node) => !ts.isSourceFile(node) && !ts.isModuleDeclaration(node))
      const texts = own.map((declaration) => {
        if (!this.isOwn(declaration))
          return `${name}: from ${declaration.getSourceFile().fileName.split("node_modules/").at(-1)}`
        const node = this.whole(declaration)
        this.need(node)
        return `${name}:\n${this.text(node)}`
      })
      return [...texts, ...members]
    })
  }

  of(entries: ReadonlyArray<readonly [string, ts.Symbol]>): string {
    for (const [, module] of entries) this.mark(module)
    const sections = entries.map(([path, module]) => {
      const listed = [...new Set(this.list(module, ""))]
      return `## ${path}\n\n${listed.join("\n\n")}\n`
    })
    const needed = [...new Set(this.needed.values())].sort(byText)
    if (needed.length > 0) {
      sections.push(`## not exported, and part of the above\n\n${needed.join("\n\n")}\n`)
    }
    return sections.join("\n")
  }
}

/** Returns the surface of a built package. `folder` is absolute. */
export const surface = (folder: string): string => {
  const { name, publishConfig } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest
  const entries = Object.entries(publishConfig.exports).flatMap(([path, target]) =>
    typeof target === "string"
      ? []
      : [[join(name, path), resolve(folder, "types" in target ? target.types : target.import.types)] as const]
  )
  const program = ts.createProgram({
    rootNames: entries.map(([, file]) => file),
    options: {
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      target: ts.ScriptTarget.ESNext,
      lib: ["lib.esnext.d.ts", "lib.dom.d.ts"],
      types: [],
      skipLibCheck: true,
      noEmit: true
    }
  })
  const checker = program.getTypeChecker()
  const modules = entries.map(([path, file]) => {
    const source = program.getSourceFile(file)
    const symbol = source && checker.getSymbolAtLocation(source)
    if (symbol === undefined) throw new Error(`${file} is not built, or exports nothing`)
    return [path, symbol] as const
  })
  const head = [
    `# The public surface of ${name}`,
    "",
    "Written by `npx -y pnpm@12 run test:packaging -u` from the built types, and compared with them by",
    "`npx -y pnpm@12 run test:packaging`. A change here is a change for users: see `VERSIONING.md`.",
    ""
  ].join("\n")
  return `${head}\n${new Surface(program, join(dirname(join(folder, "x")), "dist")).of(modules)}`
}
