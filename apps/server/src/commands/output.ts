/**
 * What the command prints: help of 80 columns on standard output, mistakes on standard error, and results, which have texts of
 * tenants, of their certificates and of the national system.
 */
import { Console, Effect, Layer } from "effect"
import { CliOutput } from "effect/cli"
import { format, stripVTControlCharacters } from "node:util"
import type { EnvironmentVariables } from "../settings/EnvironmentVariables.ts"

const escapes = (characters: string): string =>
  Array.from({ length: characters.length }, (_, index) => characters.charCodeAt(index))
    .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
    .join("")

/**
 * Escapes what a terminal would interpret, or a reader would not see: all control and format characters but line breaks and tabs.
 * The form is that of JSON, so that JSON means the same.
 */
export const printable = (text: string): string => text.replaceAll(/(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escapes)

const print =
  (write: (text: string) => void) =>
  (...values: ReadonlyArray<unknown>): void =>
    write(printable(format(...values)))

/** The console of commands: each text that it prints is printable. */
export const console: Console.Console = Object.assign(Object.create(globalThis.console) as Console.Console, {
  error: print((text) => globalThis.console.error(text)),
  log: print((text) => globalThis.console.log(text))
})

const columns = 80

const widthOf = (text: string): number => stripVTControlCharacters(text).length

/** Breaks a line at its spaces. Lines after the first have the indent; in a command, the shell reads on. */
const wrap = (line: string, indent: string, isCommand = false): ReadonlyArray<string> => {
  const lines: Array<string> = []
  const suffix = isCommand ? " \\" : ""
  let current = ""
  for (const word of line.trim().split(isCommand ? / (?=--|\S+=|< )/ : " ")) {
    const next = current === "" ? `${lines.length === 0 ? /^ */.exec(line)![0] : indent}${word}` : `${current} ${word}`
    if (current === "" || widthOf(next) + suffix.length <= columns) current = next
    else {
      lines.push(`${current}${suffix}`)
      current = `${indent}${word}`
    }
  }
  return [...lines, current]
}

// A name, and what it means in a second column. Colors stand before a name and after it.
const entry = /^ {2}(\S+(?: \S+)*) {2,}(\S.*)$/

// The longest name of a subcommand has one space behind it.
const subcommand = /^ {2}(\S+) +(\S.*)$/

// The place before a head, in colors or without, that has no empty line before it.
const color = String.raw`(?:\u001B\[\d+m)*`
const headWithoutSpace = new RegExp(String.raw`(?<=[^\n]\n)(?=${color}[A-Z]{2}[A-Z ]*${color}$)`, "gm")

/** Fits the paragraphs of a help into the columns: where one of a list does not fit, all meanings stand below their names. */
export const fit = (help: string): string =>
  help
    .replaceAll(headWithoutSpace, "\n")
    .split("\n\n")
    .map((paragraph) => {
      const lines = paragraph.split("\n")
      if (lines.every((line) => widthOf(line) <= columns)) return paragraph
      const isSubcommands = stripVTControlCharacters(lines[0]!) === "SUBCOMMANDS"
      return lines
        .flatMap((line, index) => {
          const [, name, meaning] = (isSubcommands ? subcommand : entry).exec(line) ?? []
          if (name !== undefined) return [`  ${name.trimEnd()}`, ...wrap(`      ${meaning!}`, "      ")]
          if (widthOf(line) <= columns) return [line]
          const isCommand =
            index > 0 &&
            stripVTControlCharacters(lines[index - 1]!)
              .trimStart()
              .startsWith("#")
          return wrap(line, isCommand ? "    " : "  ", isCommand)
        })
        .join("\n")
    })
    .join("\n\n")

/** Returns whether a command line prints colors, by the rule of `TerminalCapabilities` of Effect. */
const printsColors = (
  { FORCE_COLOR, NO_COLOR, TERM }: EnvironmentVariables,
  { isTTY = false }: { readonly isTTY?: boolean }
): boolean => {
  if (TERM === "dumb" || (NO_COLOR ?? "") !== "") return false
  return isTTY || !["", "0", "false"].includes((FORCE_COLOR ?? "").toLowerCase())
}

/** The format of the help. */
export const formatter = (colors: boolean) => {
  const byDefault = CliOutput.defaultFormatter({ colors })
  const formatHelpDoc = byDefault.formatHelpDoc.bind(byDefault)
  return Object.assign(byDefault, {
    formatHelpDoc: (doc: Parameters<typeof formatHelpDoc>[0]) => fit(formatHelpDoc(doc))
  })
}

// What the command says of itself has colors.
const inColors = Effect.provideService(Console.Console, globalThis.console)

const settingsHint =
  "\n\n  Settings are environment variables, as in `PORT=8080 govoice serve`. govoice settings lists them."

// The server has settings where other programs have flags.
const hintFor = (commandPath: ReadonlyArray<string>): string =>
  ["serve", "dev"].includes(commandPath[1] ?? "") ? settingsHint : ""

/** Prints help in this format. A mistake is told alone, with the command that shows the help. */
export const layer = (env: EnvironmentVariables) =>
  Layer.merge(
    CliOutput.layer(formatter(printsColors(env, process.stdout))),
    CliOutput.layerPresenter({
      present: (event) =>
        inColors(
          event._tag === "InvalidInvocation"
            ? Console.error(
                `${formatter(printsColors(env, process.stderr)).formatErrors(event.errors).trim()}\n\n  Run '${event.commandPath.join(" ")} --help' for commands and flags.${hintFor(event.commandPath)}`
              )
            : CliOutput.defaultPresenter.present(event)
        )
    })
  )
