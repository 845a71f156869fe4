/** The HTML of a page of the documentation, from the Markdown of this repository. */
import { Marked, type Tokens } from "marked"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"

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

// What is wide scrolls in a box of its own, which the keyboard reaches.
const render = (markdown: string, folder: string): string =>
  new Marked({
    renderer: {
      heading({ depth, text, tokens }) {
        return `<h${depth} id="${slug(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      code: ({ text }) => `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`,
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens)
        const address = addressOf(href, folder)
        return address === undefined ? words : `<a href="${escaped(address)}">${words}</a>`
      },
      image: () => "",
      html: ({ text }) => (text.startsWith("<!--") ? "" : text),
      table({ header, rows }) {
        const row = (cells: ReadonlyArray<Tokens.TableCell>, tag: string) =>
          `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join("")}</tr>`
        return `<div class="table" tabindex="0"><table><thead>${row(header, "th")}</thead><tbody>${rows.map((cells) => row(cells, "td")).join("")}</tbody></table></div>\n`
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

const style = `${typeface}
:root{color-scheme:light dark;--line:light-dark(#d8dde4,#2a313b);--code:light-dark(#f6f7f9,#151920)}
body{max-width:940px;margin:0 auto;padding:0 20px 64px;font:16px/1.6 "Hanken Grotesk","Hanken Grotesk until loaded",system-ui,sans-serif;
color:light-dark(#15181e,#e7eaef);background:light-dark(#fff,#0e1115);overflow-wrap:break-word}
nav{display:flex;gap:24px;padding:16px 0;border-bottom:1px solid var(--line)}nav a{text-decoration:none}
a{color:light-dark(#2a56d0,#8eaeff);text-underline-offset:3px;text-decoration-thickness:1px}
h1{margin:1.2em 0 .6em;font-size:32px;font-weight:650;line-height:1.15;letter-spacing:-.015em}h2{margin-top:2em;font-size:22px;font-weight:650}
main>:is(p,ul,ol,blockquote,details){max-width:46rem}
code,pre{font:.86em/1.6 ui-monospace,"SF Mono","Cascadia Mono","Liberation Mono",Menlo,Consolas,monospace}
:not(pre)>code{padding:.1em .3em;background:var(--code);border-radius:4px}
pre{padding:14px 16px;overflow:auto;font-size:12.5px;border:1px solid var(--line);border-radius:10px;background:var(--code)}pre code{font:inherit}
.table{overflow:auto}table{border-collapse:collapse;font-size:15px}th{font-weight:600}td code:only-child{overflow-wrap:normal}
th,td{padding:8px 16px 8px 0;text-align:start;vertical-align:top;border-bottom:1px solid var(--line)}summary{font-weight:600;cursor:pointer}
blockquote{margin:0;padding-inline-start:16px;border-inline-start:3px solid var(--line)}
@media(min-width:770px){td:first-child code:only-child{white-space:nowrap}}`

/** The headers of each page: nothing but its own style runs or loads. */
export const headers = {
  "content-security-policy": `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; img-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
}

/** The first heading of a page, as text. */
export const titleOf = (markdown: string): string =>
  /^# +(\S.*)$/m.exec(markdown)?.[1]?.replaceAll(/[`*]/g, "") ?? "Govoice"

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
<nav aria-label="Documentation"><a href="/docs/guides">Guides</a><a href="/docs">API reference</a></nav>
<main>
${render(markdown, folder).trim()}
</main>
</body>
</html>
`
