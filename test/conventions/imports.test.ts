/**
 * Checks the direction of imports between packages and folders, and the npm packages that each may import.
 */
import { globSync, readFileSync } from "node:fs"
import { builtinModules } from "node:module"
import { dirname, join, relative, resolve } from "node:path"
import ts from "typescript"
import { assert, describe, it } from "vitest"

const root = resolve(import.meta.dirname, "../..")

interface Room {
  readonly folder: string
  /** Packages that published code may import. */
  readonly may: ReadonlyArray<string>
  /** Modules of Node that it may import. */
  readonly node?: ReadonlyArray<string> | "any"
}

const rooms: ReadonlyArray<Room> = [
  { folder: "packages/core", may: ["effect"] },
  { folder: "packages/api", may: ["effect", "@govoice/core"] },
  { folder: "packages/webhooks", may: [] },
  { folder: "packages/dispatcher", may: ["effect", "undici"], node: "any" },
  { folder: "packages/client", may: [] },
  // The client judges addresses as the dispatcher does. A guard that had to be passed in could be forgotten.
  {
    folder: "packages/ksef",
    may: ["effect", "undici", "saxes", "libxml2-wasm", "@govoice/dispatcher"],
    node: "any"
  },
  {
    folder: "packages/ksef-simulator",
    may: ["@govoice/ksef", "ajv", "effect", "libxml2-wasm", "yauzl"],
    node: "any"
  },
  {
    folder: "apps/server",
    may: [
      "effect",
      "@effect/platform-node",
      "@effect/sql-pg",
      "@electric-sql/pglite",
      "@govoice/api",
      "@govoice/core",
      "@govoice/dispatcher",
      "@govoice/ksef",
      "@govoice/webhooks",
      "@node-rs/argon2",
      "jose",
      "marked",
      "nodemailer",
      "pdfkit",
      "uqr"
    ],
    node: "any"
  },
  // The page runs in browsers: the client alone, so that it can do nothing that another client could not. `@govoice/ksef/reading`
  // reads documents.
  {
    folder: "apps/console",
    may: ["@govoice/client", "@govoice/ksef", "@tanstack/react-query", "react", "react-dom", "uqr", "wouter"]
  }
]

// Entries that may import more than the rest of their package.
const exceptions: Readonly<Record<string, ReadonlyArray<string>>> = {
  "packages/webhooks/src/effect.ts": ["effect"],
  "packages/client/src/effect.ts": ["effect"],
  "packages/client/src/internal/lift.ts": ["effect"],
  "apps/server/src/database/RedisClient.ts": ["redis"]
}

interface Import {
  readonly specifier: string
  readonly typeOnly: boolean
  /** `import()`: loaded when it is called. */
  readonly dynamic: boolean
}

const readFiles = new Map<string, ReadonlyArray<Import>>()

const importsOf = (file: string): ReadonlyArray<Import> => {
  const before = readFiles.get(file)
  if (before !== undefined) return before
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true)
  const found: Array<Import> = []
  const visit = (node: ts.Node): void => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined) {
      const typeOnly = ts.isImportDeclaration(node)
        ? node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
        : node.isTypeOnly
      found.push({ specifier: (node.moduleSpecifier as ts.StringLiteral).text, typeOnly, dynamic: false })
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [argument] = node.arguments
      if (argument !== undefined && ts.isStringLiteral(argument))
        found.push({ specifier: argument.text, typeOnly: false, dynamic: true })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  readFiles.set(file, found)
  return found
}

const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/")

const isBuiltin = (specifier: string): boolean => specifier.startsWith("node:") || builtinModules.includes(specifier)

/** The sources below a folder. Throws where there are none: every check of them would pass. */
const sourcesBelow = (folder: string): ReadonlyArray<string> => {
  const files = globSync("**/*.{ts,tsx}", { cwd: join(root, folder) }).map((file) => join(folder, file))
  if (files.length === 0) throw new Error(`${folder} has no sources. Name the folder that has them in this test.`)
  return files
}

const sources = ({ folder }: Room): ReadonlyArray<string> => sourcesBelow(join(folder, "src"))

const faults = (room: Room): ReadonlyArray<string> =>
  sources(room).flatMap((file) =>
    importsOf(join(root, file)).flatMap(({ specifier }) => {
      const fault = (why: string) => [`${file} imports ${specifier}: ${why}`]
      if (specifier.startsWith(".")) {
        const target = relative(join(root, room.folder), resolve(root, dirname(file), specifier))
        return target.startsWith("src") || target === "package.json" ? [] : fault("it leaves its package")
      }
      if (isBuiltin(specifier)) {
        if (!specifier.startsWith("node:")) return fault("a module of Node is named node:…")
        return room.node === "any" || room.node?.includes(specifier) ? [] : fault("it may not use this module of Node")
      }
      const name = packageOf(specifier)
      if (![...room.may, ...(exceptions[file] ?? [])].includes(name))
        return fault("add it to the table of this test, or import something else")
      return room.folder.startsWith("packages/") && specifier === "effect"
        ? fault("import effect/Effect and the like")
        : []
    })
  )

const sandbox = ["Sandbox.ts", "SandboxRecord.ts"].map((name) => `apps/server/src/invoices/sandbox/${name}`)

/** The file of an import: of a relative one, or of an entry of a workspace package. */
const fileOf = (from: string, specifier: string): string | undefined => {
  if (specifier.startsWith(".")) return relative(root, resolve(root, dirname(from), specifier))
  if (!specifier.startsWith("@govoice/")) return undefined
  const folder = join("packages", packageOf(specifier).slice("@govoice/".length))
  const { exports } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, { readonly source: string }>>
  }
  return join(folder, exports[`.${specifier.slice(packageOf(specifier).length)}`]!.source)
}

/** Every specifier that loading these files loads, at once or later. Types load nothing. */
const loadedBy = (files: ReadonlyArray<string>, { dynamic: withDynamic } = { dynamic: true }): ReadonlySet<string> => {
  const visited = new Set<string>()
  const loaded = new Set<string>()
  const visit = (file: string): void => {
    if (visited.has(file) || !file.endsWith(".ts")) return
    visited.add(file)
    for (const { dynamic, specifier, typeOnly } of importsOf(join(root, file))) {
      if (typeOnly || (dynamic && !withDynamic)) continue
      loaded.add(specifier)
      const next = fileOf(file, specifier)
      if (next !== undefined) visit(next)
    }
  }
  for (const file of files) visit(file)
  return loaded
}

describe("the sandbox", () => {
  const files = sandbox
  const network = /^(?:undici|@govoice\/dispatcher|(?:node:)?(?:https?|http2|net|tls|dgram|dns|child_process)\b)/

  it("imports @govoice/ksef/format, and nothing else of the protocol", () => {
    const ofProtocol = files.flatMap((file) =>
      importsOf(join(root, file))
        .map(({ specifier }) => specifier)
        .filter((specifier) => packageOf(specifier) === "@govoice/ksef")
    )
    assert.deepStrictEqual([...new Set(ofProtocol)], ["@govoice/ksef/format"])
  })

  it("loads no module that can open a connection", () => {
    const loaded = [...loadedBy(files)]
    assert.include(loaded, "saxes")
    assert.deepStrictEqual(
      loaded.filter((specifier) => network.test(specifier)),
      []
    )
  })

  it("is reported if it loads a module that can open a connection", () => {
    const dispatcher = loadedBy(["packages/dispatcher/src/index.ts"])
    assert.includeMembers(
      [...dispatcher].filter((specifier) => network.test(specifier)),
      ["node:net", "node:tls", "undici"]
    )
  })
})

describe("the console", () => {
  it("imports @govoice/ksef/reading, which loads saxes alone, and nothing else of the protocol", () => {
    const ofProtocol = sourcesBelow("apps/console/src")
      .flatMap((file) => importsOf(join(root, file)).map(({ specifier }) => specifier))
      .filter((specifier) => packageOf(specifier) === "@govoice/ksef")
    assert.deepStrictEqual([...new Set(ofProtocol)], ["@govoice/ksef/reading"])
    const loaded = [...loadedBy(["packages/ksef/src/reading.ts"])].filter((specifier) => !specifier.startsWith("."))
    assert.deepStrictEqual(loaded, ["saxes"])
  })
})

describe("the command govoice", () => {
  const command = ["apps/server/src/commands/runCommand.ts"]
  const ofPackages = (specifiers: ReadonlySet<string>) =>
    [...specifiers].filter((specifier) => !specifier.startsWith(".") && !isBuiltin(specifier)).map(packageOf)

  it("loads no package but Effect before it runs", () => {
    const loaded = loadedBy(command, { dynamic: false })
    assert.include([...loaded], "./govoice.ts")
    assert.sameMembers([...new Set(ofPackages(loaded))], ["effect", "@effect/platform-node"])
  })

  it("loads the database, the server and the dispatcher when it runs", () => {
    assert.includeMembers(ofPackages(loadedBy(command)), ["@effect/sql-pg", "@electric-sql/pglite", "undici"])
  })
})

type Graph = ReadonlyMap<string, ReadonlySet<string>>

/** Returns the cycles of a graph. */
const cycles = (graph: Graph): ReadonlyArray<string> => {
  const found = new Set<string>()
  const done = new Set<string>()
  const visit = (node: string, path: ReadonlyArray<string>): void => {
    if (path.includes(node)) found.add([...path.slice(path.indexOf(node)), node].join(" -> "))
    if (done.has(node) || path.includes(node)) return
    for (const next of graph.get(node) ?? []) visit(next, [...path, node])
    done.add(node)
  }
  for (const node of graph.keys()) visit(node, [])
  return [...found]
}

/** The relative imports of a room, type imports included: from each file to the files that it imports. */
const fileGraph = (room: Room): Graph =>
  new Map(
    sources(room).map((file) => [
      file,
      new Set(
        importsOf(join(root, file))
          .filter(({ specifier }) => specifier.startsWith("."))
          .map(({ specifier }) => relative(root, resolve(root, dirname(file), specifier)))
      )
    ])
  )

/** The imports between folders that lie in the same folder. Files of a subfolder count for the folder. */
const siblingGraph = (files: Graph): Graph => {
  const found = new Map<string, Set<string>>()
  for (const [file, targets] of files) {
    for (const target of targets) {
      const from = file.split("/").slice(0, -1)
      const to = target.split("/").slice(0, -1)
      const depth = from.findIndex((name, index) => name !== to[index])
      if (depth < 0 || to[depth] === undefined) continue
      const sibling = from.slice(0, depth + 1).join("/")
      found.set(sibling, (found.get(sibling) ?? new Set()).add(to.slice(0, depth + 1).join("/")))
    }
  }
  return found
}

// The folders of the server, from top to bottom. Each imports from those below it only, so there are no cycles.
const serverFolders = [
  "commands",
  "runtime",
  "http",
  "maintenance",
  "mail",
  "invoices",
  "deliveries",
  "accounts",
  "jobs",
  "limits",
  "cells",
  "database",
  "crypto",
  "observability",
  "settings"
]

const serverSources = "apps/server/src"

// `undefined` for the entries above all folders, and for `version.ts` below them.
const serverFolderOf = (file: string): string | undefined => {
  const [folder, ...rest] = relative(serverSources, file).split("/")
  return rest.length === 0 ? undefined : folder
}

/** Returns the imports from one folder of the server to another that is not below it. */
const upwardImports = (files: ReadonlyArray<string>): ReadonlyArray<string> =>
  files.flatMap((file) => {
    const from = serverFolderOf(file)
    return importsOf(join(root, file)).flatMap(({ specifier }) => {
      if (!specifier.startsWith(".") || from === undefined) return []
      const to = serverFolderOf(relative(root, resolve(root, dirname(file), specifier)))
      if (to === undefined || to === from || to === "..") return []
      return serverFolders.indexOf(from) < serverFolders.indexOf(to) ? [] : [`${file} imports ${specifier}`]
    })
  })

describe("folders of the server", () => {
  const files = sourcesBelow(serverSources)

  it("are all in the list serverFolders", () => {
    const folders = new Set(files.map(serverFolderOf).filter((folder) => folder !== undefined))
    assert.sameMembers([...folders], serverFolders)
  })

  it("import from folders below them only", () => {
    assert.deepStrictEqual(upwardImports(files), [])
  })

  it("share code of live mode and the sandbox only through the folder above both", () => {
    const folders = ["ksef", "sandbox"].map((name) => join(serverSources, "invoices", name))
    const imported = folders.flatMap(sourcesBelow).flatMap((file) =>
      importsOf(join(root, file)).flatMap(({ specifier }) => {
        const target = relative(root, resolve(root, dirname(file), specifier))
        const isOther = folders.some((folder) => target.startsWith(`${folder}/`) && !file.startsWith(`${folder}/`))
        return isOther ? [`${file} imports ${specifier}`] : []
      })
    )
    assert.deepStrictEqual(imported, [])
  })

  it("import neither cli.ts nor main.ts", () => {
    const entries = ["cli.ts", "main.ts"].map((name) => join(serverSources, name))
    assert.includeMembers([...files], entries, "Name the entries as they are now")
    const imported = files.flatMap((file) =>
      importsOf(join(root, file)).flatMap(({ specifier }) =>
        entries.includes(relative(root, resolve(root, dirname(file), specifier)))
          ? [`${file} imports ${specifier}`]
          : []
      )
    )
    assert.deepStrictEqual(imported, [])
  })
})

describe("the check of imports", () => {
  it.each(rooms)("finds no cycle between the files of $folder", (room) => {
    assert.deepStrictEqual(cycles(fileGraph(room)), [])
  })

  // A folder and its subfolder may import each other: `invoices/SubmitInvoice.ts` wakes the lanes of `invoices/ksef`.
  it.each(rooms)("finds no cycle between sibling folders of $folder", (room) => {
    assert.deepStrictEqual(cycles(siblingGraph(fileGraph(room))), [])
  })

  it("finds a cycle between folders whose files have none", () => {
    const files = new Map([
      ["a/src/x/one.ts", new Set(["a/src/y/two.ts"])],
      ["a/src/y/deep/three.ts", new Set(["a/src/x/four.ts", "a/src/five.ts"])]
    ])
    assert.deepStrictEqual(cycles(files), [])
    assert.deepStrictEqual(cycles(siblingGraph(files)), ["a/src/x -> a/src/y -> a/src/x"])
  })

  it.each(rooms)("finds no forbidden import in $folder", (room) => {
    assert.deepStrictEqual(faults(room), [])
  })

  it("has exceptions only for files that exist", () => {
    assert.includeMembers(rooms.flatMap(sources), Object.keys(exceptions), "Name each file as it is now, or remove it")
  })

  it("has a rule for every package and app", () => {
    assert.sameMembers(
      globSync("{packages,apps}/*", { cwd: root }),
      rooms.map(({ folder }) => folder)
    )
  })

  it("reads imports of every kind", () => {
    const seen = new Set(
      rooms.flatMap((room) =>
        sources(room).flatMap((file) => importsOf(join(root, file)).map(({ specifier }) => packageOf(specifier)))
      )
    )
    for (const name of ["effect", "undici", "@govoice/core", "@effect/sql-pg"]) assert.include([...seen], name)
  })
})
