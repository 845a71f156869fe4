/**
 * Draws the diagrams of the guides as SVG in the color of the text around them, so that they fit light and dark pages and
 * need no script in the browser. Graphviz decides where boxes and arrows stand. The site draws while it is built; the server
 * serves those of a file, because its build has no Graphviz.
 *
 *     node --conditions=source docs/drawing.ts            updates the file
 *     node --conditions=source docs/drawing.ts --check    fails if the file is not current
 */
import { Graphviz } from "@hpcc-js/wasm-graphviz"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { keepCurrent } from "./writtenFile.ts"

const graphviz = await Graphviz.load()

// Graphviz does not know `currentColor`, so this color stands for it.
const ink = "#010203"

const unescape = (html: string): string =>
  html.replaceAll("&gt;", ">").replaceAll("&lt;", "<").replaceAll("&quot;", '"').replaceAll("&amp;", "&")

interface Arrow {
  readonly from: string
  readonly to: string
  readonly label: string
}

interface Box {
  readonly name: string
  readonly text: string
}

interface Diagram {
  readonly arrows: ReadonlyArray<Arrow>
  readonly boxes: ReadonlyArray<Box>
}

// A line `a --> b: by` is an arrow between statuses. [*] is the start or the end.
const transitionsOf = (source: string): ReadonlyArray<Arrow> =>
  Array.from(source.matchAll(/^\s*(\S+) --> (\S+?)(?:: (.+))?$/gm), ([, from, to, label = ""]) => ({
    from: from === "[*]" ? "start" : from!,
    to: to === "[*]" ? "end" : to!,
    label
  }))

// A line `a["First<br/>second"]` is a box, and `a -->|label| b` an arrow between boxes.
const boxesOf = (source: string): ReadonlyArray<Box> =>
  Array.from(source.matchAll(/^\s*(\w+)\["(.+)"\]$/gm), ([, name, text]) => ({ name: name!, text: text! }))

const linksOf = (source: string): ReadonlyArray<Arrow> =>
  Array.from(source.matchAll(/^\s*(\w+) -->\|(.+)\| (\w+)$/gm), ([, from, label, to]) => ({
    from: from!,
    to: to!,
    label: label!
  }))

const quoted = (text: string): string => `"${text.replaceAll(/<br\/>| (?=\()/g, "\\n")}"`

const ends = (arrows: ReadonlyArray<Arrow>): ReadonlyArray<string> => {
  const circle = (name: string, shape: string): string =>
    `${name} [shape=${shape}, style=filled, fillcolor="${ink}", label="", width=0.16, height=0.16]`
  const isUsed = (name: string): boolean => arrows.some(({ from, to }) => from === name || to === name)
  return [
    ...(isUsed("start") ? [circle("start", "circle")] : []),
    ...(isUsed("end") ? [circle("end", "doublecircle")] : [])
  ]
}

const dot = ({ arrows, boxes }: Diagram): string => `digraph {
  graph [bgcolor=transparent, nodesep=0.35, ranksep=0.45]
  node [shape=box, style=rounded, color="${ink}", fontcolor="${ink}", fontname=Helvetica, fontsize=13]
  edge [color="${ink}", fontcolor="${ink}", fontname=Helvetica, fontsize=11, arrowsize=0.7]
  ${ends(arrows).join("\n  ")}
  ${boxes.map(({ name, text }) => `${name} [label=${quoted(text)}]`).join("\n  ")}
  ${arrows.map(({ from, label, to }) => `${from} -> ${to} [label=${quoted(` ${label} `)}]`).join("\n  ")}
}`

const svg = (diagram: Diagram, label: string): string =>
  graphviz
    .dot(dot(diagram))
    .replace(/^[^]*?(?=<svg)/, "")
    .replaceAll(/<!--[^]*?-->\n?|<title>[^]*?<\/title>\n?/g, "")
    .replaceAll(ink, "currentColor")
    .replace("<svg", `<svg role="img" aria-label="${label}"`)

const table = (arrows: ReadonlyArray<Arrow>): string => {
  const status = (name: string): string => `<code>${name}</code>`
  const rows = arrows
    .filter(({ to }) => to !== "end")
    .map(
      ({ from, label, to }) =>
        `<tr><td>${from === "start" ? "new" : status(from)}</td><td>${status(to)}</td><td>${label}</td></tr>`
    )
  return `<table><thead><tr><th>from</th><th>to</th><th>when</th></tr></thead><tbody>${rows.join("")}</tbody></table>`
}

// With the arrows as a table that can be opened.
const drawStates = (source: string): string => {
  const arrows = transitionsOf(source)
  const drawn = svg({ arrows, boxes: [] }, "State diagram. The table below it has the same arrows.")
  return `<figure class="drawing">${drawn}<details><summary>As a table</summary>${table(arrows)}</details></figure>`
}

const drawFlow = (source: string): string => {
  const arrows = linksOf(source)
  const label = arrows.map(({ from, label, to }) => `${from} to ${to}: ${label}.`).join(" ")
  return `<figure class="drawing">${svg({ arrows, boxes: boxesOf(source) }, label)}</figure>`
}

const draw = (diagram: string): string => (diagram.startsWith("flowchart LR\n") ? drawFlow : drawStates)(diagram)

/** Returns the page with its Mermaid diagrams drawn. */
export const drawDiagrams = (html: string): string =>
  html.replaceAll(
    /<pre><code class="mermaid">((?:stateDiagram-v2|flowchart LR)\n[^]*?)<\/code>[^]*?<\/pre>/g,
    (_, diagram: string) => draw(unescape(diagram))
  )

/** Path of the file from which the server serves them. */
export const path = join(import.meta.dirname, "../apps/server/src/http/handlers/drawings.json")

/** Returns the contents of the file: the drawings of the guides by their Mermaid source. */
export const file = (): string => {
  const guides = globSync("guides/*.md", { cwd: import.meta.dirname }).sort()
  const drawings = guides.flatMap((guide) =>
    Array.from(
      readFileSync(join(import.meta.dirname, guide), "utf8").matchAll(/^```mermaid\n([^]*?)\n```$/gm),
      ([, diagram]) => [diagram!, draw(diagram!)] as const
    )
  )
  return `${JSON.stringify(Object.fromEntries(drawings), null, 2)}\n`
}

if (import.meta.main) keepCurrent(path, file(), "docs/drawing.ts")
