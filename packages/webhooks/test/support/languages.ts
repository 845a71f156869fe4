/**
 * Runs the functions of the guide for other languages. Each reads lines of fields, separated by tabs, and prints `true` or
 * `false` for each line, so that no driver needs a JSON parser. The fields are secrets, headers, body, time in milliseconds
 * and tolerance in seconds. Texts are in base64; commas separate secrets and headers, a colon separates name and value.
 */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as drivers from "./languageDrivers.ts"

export interface Language {
  readonly name: string
  /** The language of the code fence in the guide. */
  readonly fence: string
  readonly installed: () => boolean
  readonly how: string
  /** Runs the function over lines. `folder` is an empty scratch directory. */
  readonly run: (code: string, lines: string, folder: string) => string
}

const has = (...command: [string, ...Array<string>]) => {
  try {
    execFileSync(command[0], command.slice(1), { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

const execute = (folder: string, lines: string, ...command: [string, ...Array<string>]) =>
  execFileSync(command[0], command.slice(1), { cwd: folder, input: lines, encoding: "utf8" })

const runFile = (folder: string, name: string, text: string, lines: string, ...command: [string, ...Array<string>]) => {
  writeFileSync(join(folder, name), text)
  return execute(folder, lines, ...command)
}

/** Separates the imports from the rest, because imports must be at the top of the file. */
const parted = (code: string, imports: RegExp) => ({
  imports: (code.match(imports) ?? []).join("\n"),
  rest: code.replaceAll(imports, "")
})

// Debian keeps the sources of crates, the assemblies of Mono and the archives of Java in these places.
const crates = "/usr/share/cargo/registry"
const monoJson = "/usr/lib/mono/4.5/System.Runtime.Serialization.dll"
const archives = "/usr/share/java"

const rustDependencies = `
[package]
name = "vectors"
version = "0.0.0"
edition = "2021"

[dependencies]
chrono = "*"
hex = "*"
hmac = "*"
serde_json = "*"
sha2 = "*"
`

// Debian's PyPy is a Python 3.9, the oldest that the guide promises.
const pythons = () =>
  ["pypy3", "python3"].filter((python) => has(python, "-c", "import sys; assert sys.version_info >= (3, 9)"))

export const languages: ReadonlyArray<Language> = [
  {
    name: "Python",
    fence: "python",
    installed: () => pythons().length > 0,
    how: "apt-get install python3 pypy3",
    run: (code, lines, folder) => {
      const answers = pythons().map((python) =>
        runFile(folder, "main.py", code + drivers.python, lines, python, "main.py")
      )
      if (new Set(answers).size !== 1) throw new Error(`${pythons().join(" and ")} disagree`)
      return answers[0]!
    }
  },
  {
    name: "PHP",
    fence: "php",
    installed: () => has("php", "--version"),
    how: "apt-get install php-cli",
    run: (code, lines, folder) => runFile(folder, "main.php", `<?php\n${code}${drivers.php}`, lines, "php", "main.php")
  },
  {
    name: "Go",
    fence: "go",
    installed: () => has("go", "version"),
    how: "apt-get install golang-go",
    run: (code, lines, folder) => {
      const more = ["encoding/base64", "fmt", "io", "os", "strconv"].map((name) => `import "${name}"`).join("\n")
      return runFile(folder, "main.go", `package main\n${more}\n${code}${drivers.go}`, lines, "go", "run", "main.go")
    }
  },
  {
    name: "Ruby",
    fence: "ruby",
    installed: () => has("ruby", "--version"),
    how: "apt-get install ruby",
    run: (code, lines, folder) => runFile(folder, "main.rb", code + drivers.ruby, lines, "ruby", "main.rb")
  },
  {
    name: "Java",
    fence: "java",
    installed: () => has("java", "--version") && existsSync(join(archives, "jackson-databind.jar")),
    how: "apt-get install openjdk-17-jdk-headless libjackson2-databind-java",
    run: (code, lines, folder) => {
      const { imports, rest } = parted(code, /^import .*;$/gm)
      const text = `${imports}\nclass Main {\n${rest}${drivers.java}}\n`
      return runFile(folder, "Main.java", text, lines, "java", "-cp", join(archives, "*"), "Main.java")
    }
  },
  {
    name: "C#",
    fence: "csharp",
    installed: () => has("dotnet", "--version") || (has("mcs", "--version") && existsSync(monoJson)),
    how: "the .NET SDK, or apt-get install mono-mcs libmono-system-runtime-serialization4.0-cil",
    run: (code, lines, folder) => {
      const { imports, rest } = parted(code, /^using [\w.]+;$/gm)
      const text = `${imports}\nusing System.Runtime.Serialization.Json;\nstatic class Program\n{\n${rest}${drivers.csharp}}\n`
      if (has("mcs", "--version")) {
        writeFileSync(join(folder, "Program.cs"), text)
        const libraries = ["System.Runtime.Serialization", "System.Xml"]
        execFileSync("mcs", ["Program.cs", ...libraries.map((name) => `-r:${name}.dll`)], {
          cwd: folder,
          stdio: ["ignore", "ignore", "inherit"]
        })
        return execute(folder, lines, "mono", "Program.exe")
      }
      mkdirSync(join(folder, "home"))
      writeFileSync(
        join(folder, "program.csproj"),
        '<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType><TargetFramework>net8.0</TargetFramework></PropertyGroup></Project>'
      )
      return runFile(folder, "Program.cs", text, lines, "dotnet", "run")
    }
  },
  {
    name: "Rust",
    fence: "rust",
    installed: () =>
      has("cargo", "--version") &&
      ["chrono", "hex", "hmac", "serde_json", "sha2"].every((name) =>
        has("sh", "-c", `ls -d ${crates}/${name}-[0-9]*`)
      ),
    how: "apt-get install cargo librust-{chrono,hex,hmac,serde-json,sha2}-dev",
    run: (code, lines, folder) => {
      mkdirSync(join(folder, "src"))
      mkdirSync(join(folder, ".cargo"))
      writeFileSync(join(folder, "Cargo.toml"), rustDependencies)
      writeFileSync(
        join(folder, ".cargo/config.toml"),
        `[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "${crates}"\n`
      )
      return runFile(folder, "src/main.rs", code + drivers.rust, lines, "cargo", "run", "--quiet", "--offline")
    }
  },
  {
    name: "Elixir",
    fence: "elixir",
    installed: () => has("elixir", "-e", "true = Code.ensure_loaded?(JSON) or Code.ensure_loaded?(:jiffy)"),
    how: "apt-get install elixir erlang-jiffy",
    run: (code, lines, folder) => runFile(folder, "main.exs", code + drivers.elixir, lines, "elixir", "main.exs")
  }
]
