/**
 * Output of the demo: color and a live status line on a terminal, plain lines otherwise.
 */
import { styleText } from "node:util"

type Style = "bold" | "cyan" | "dim" | "green" | "red" | "yellow"

export class Screen {
  private readonly out: NodeJS.WriteStream
  private readonly live: boolean
  private pending = ""

  constructor(out: NodeJS.WriteStream) {
    this.out = out
    this.live = out.isTTY && process.env["NO_COLOR"] === undefined && process.env["TERM"] !== "dumb"
  }

  style(style: Style, text: string): string {
    return this.live ? styleText(style, text, { validateStream: false }) : text
  }

  /** Prints a permanent line. */
  line(text = ""): void {
    this.erase()
    this.out.write(`${text}\n`)
    this.draw()
  }

  heading(text: string): void {
    this.line()
    this.line(this.style("bold", text))
  }

  /** Prints a paragraph, 80 columns wide. */
  text(paragraph: string): void {
    for (const line of paragraph.match(/.{1,78}(?:\s|$)/gu) ?? []) this.line(`  ${line.trimEnd()}`)
  }

  done(what: string, detail: string): void {
    this.line(`  ${this.style("green", "✔")} ${what.padEnd(14)} ${detail}`)
  }

  /** Replaces the status line at the bottom of a terminal. */
  status(text: string): void {
    this.erase()
    this.pending = text
    this.draw()
  }

  table(columns: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): void {
    const widths = columns.map((column, index) =>
      Math.max(column.length, ...rows.map((row) => row[index]?.length ?? 0))
    )
    const format = (cells: ReadonlyArray<string>) =>
      `  ${cells
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join("  ")
        .trimEnd()}`
    this.line(this.style("dim", format(columns)))
    for (const row of rows) this.line(format(row))
  }

  private erase(): void {
    if (this.live && this.pending !== "") this.out.write("\r\u001b[2K")
  }

  private draw(): void {
    if (this.live && this.pending !== "")
      this.out.write(this.style("dim", this.pending.slice(0, (this.out.columns || 80) - 1)))
  }
}
