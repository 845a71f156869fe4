/** The HTML of a page of the documentation, from the Markdown of this repository. */
import { Marked, type Tokens } from "marked"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import drawings from "./drawings.json" with { type: "json" }

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

// A guide or the page of an error is served; other files of the repository are not.
const served = /^(?:\.\.\/(guides|errors)\/|\.\/)?([\w-]+)\.md(#[\w-]+)?$/

const addressOf = (link: string, folder: string): string | undefined => {
  if (/^(?:https?:\/\/|#)/.test(link)) return link
  const [, other, name, anchor = ""] = served.exec(link) ?? []
  if (name === undefined) return undefined
  // The list of the errors is in their guide.
  return name === "README" ? "/docs/guides/errors" : `/docs/${other ?? folder}/${name}${anchor}`
}

/** The name of a heading in an address, as GitHub makes it. */
const slug = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-")

// By their Mermaid source. They are generated from the guides.
const drawingOf = new Map(Object.entries(drawings))

const block = ({ lang, text }: Pick<Tokens.Code, "lang" | "text">): string =>
  (lang === "mermaid" ? drawingOf.get(text) : undefined) ??
  `<pre${lang === "text" ? ' class="text"' : ""} tabindex="0"><code>${escaped(text)}</code></pre>`

// What is wide scrolls in a box of its own, which the keyboard reaches.
const render = (markdown: string, folder: string): string =>
  new Marked({
    renderer: {
      heading({ depth, text, tokens }) {
        return `<h${depth} id="${slug(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      code: (token) => `${block(token)}\n`,
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens)
        const address = addressOf(href, folder)
        return address === undefined ? words : `<a href="${escaped(address)}">${words}</a>`
      },
      image: () => "",
      html: ({ text }) => (text.startsWith("<!--") ? "" : text),
      table({ header, rows }) {
        // On a narrow page, a row of three cells and more stands on end. Its table says what it is: the style would hide it.
        const isWide = header.length > 2
        const role = (name: string) => (isWide ? ` role="${name}"` : "")
        const label = (column: number) => (isWide ? ` data-label="${escaped(header[column]!.text)}"` : "")
        const row = (cells: string) => `<tr${role("row")}>${cells}</tr>`
        const inner = ({ tokens }: Tokens.TableCell) => this.parser.parseInline(tokens)
        const heads = header.map((cell) => `<th${role("columnheader")}>${inner(cell)}</th>`).join("")
        const body = rows.map((cells) =>
          row(cells.map((cell, column) => `<td${role("cell")}${label(column)}>${inner(cell)}</td>`).join(""))
        )
        const table = `<table${role("table")}><thead${role("rowgroup")}>${row(heads)}</thead><tbody${role("rowgroup")}>${body.join("")}</tbody></table>`
        return `<div class="table${isWide ? " wide" : ""}" tabindex="0">${table}</div>\n`
      }
    }
  }).parse(markdown, { async: false })

// The declarations of the console: beside the bundle, or those of the repository.
const typeface = readFileSync(
  new URL(
    import.meta.url.endsWith(".ts") ? "../../../../console/src/styles/typeface.css" : "./typeface/typeface.css",
    import.meta.url
  ),
  "utf8"
).replaceAll("@fontsource-variable/hanken-grotesk/files/", "/docs/typeface/")

/** The style of the navigation, which the API reference has, too. Its page has no other style of this one. */
export const navigationStyle = `${typeface}
nav.docs{display:flex;gap:24px;padding:16px 20px;border-bottom:1px solid light-dark(#d8dde4,#2a313b);font:16px/1.6 "Hanken Grotesk","Hanken Grotesk until loaded",system-ui,sans-serif}
nav.docs a{color:light-dark(#2a56d0,#8eaeff);text-decoration:none}`

const style = `${navigationStyle}
:root{color-scheme:light dark;--line:light-dark(#d8dde4,#2a313b);--code:light-dark(#f6f7f9,#151920);--quiet:light-dark(#59626f,#9aa4b2)}
body{max-width:940px;margin:0 auto;padding:0 20px 64px;font:16px/1.6 "Hanken Grotesk","Hanken Grotesk until loaded",system-ui,sans-serif;
color:light-dark(#15181e,#e7eaef);background:light-dark(#fff,#0e1115);overflow-wrap:break-word}
nav.docs{padding-inline:0}
a{color:light-dark(#2a56d0,#8eaeff);text-underline-offset:3px;text-decoration-thickness:1px}
h1{margin:1.2em 0 .6em;font-size:32px;font-weight:650;line-height:1.15;letter-spacing:-.015em}h2{margin-top:2em;font-size:22px;font-weight:650}
main>:is(p,ul,ol,blockquote,details){max-width:46rem}
code,pre{font:.86em/1.6 ui-monospace,"SF Mono","Cascadia Mono","Liberation Mono",Menlo,Consolas,monospace}
:not(pre)>code{padding:.1em .3em;background:var(--code);border-radius:4px}
pre{padding:14px 16px;overflow:auto;font-size:12.5px;border:1px solid var(--line);border-radius:10px;background:var(--code)}pre code{font:inherit}pre.text{white-space:pre-wrap}
.drawing{margin:16px 0;overflow-x:auto}.drawing svg{max-width:max(100%,36rem);height:auto}
.table{overflow:auto}table{border-collapse:collapse;font-size:15px}th{font-weight:600}td code:only-child{overflow-wrap:normal}
th,td{padding:8px 16px 8px 0;text-align:start;vertical-align:top;border-bottom:1px solid var(--line)}summary{font-weight:600;cursor:pointer}
blockquote{margin:0;padding-inline-start:16px;border-inline-start:3px solid var(--line)}
@media(min-width:770px){td:first-child code:only-child{white-space:nowrap}}
@media(max-width:769px){.wide :is(table,tbody,tr,td){display:block}.wide thead{position:absolute;overflow:hidden;width:1px;height:1px;clip-path:inset(50%)}
.wide tr{padding:10px 0;border-bottom:1px solid var(--line)}.wide td{padding:2px 0;border:0;overflow-wrap:anywhere}.wide td:not(:first-child):not(:empty)::before{content:attr(data-label) ": ";color:var(--quiet)}}`

/** The headers of each page: nothing but its own style runs or loads. */
export const headers = {
  "content-security-policy": `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; img-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
}

/** The first heading of a page, as text. */
export const titleOf = (markdown: string): string =>
  /^# +(\S.*)$/m.exec(markdown)?.[1]?.replaceAll(/[`*]/g, "") ?? "Govoice"

/** The navigation of all pages. */
export const navigation =
  '<nav class="docs" aria-label="Documentation"><a href="/docs/guides">Guides</a><a href="/docs">API reference</a></nav>'

/** Returns the page. Links of the Markdown are relative to a folder of `docs`. */
export const make = (markdown: string, folder: "errors" | "guides", language = "en"): string =>
  `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(titleOf(markdown))} · Govoice</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<style>${style}</style>
</head>
<body>
${navigation}
<main>
${render(markdown, folder).trim()}
</main>
</body>
</html>
`
