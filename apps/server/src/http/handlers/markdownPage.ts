/** The HTML of a page of the documentation, from the Markdown of this repository: no more of the language than its pages use. */
import { createHash } from "node:crypto"

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

// A guide or the page of an error is served; other files of the repository are not.
const served = /^(?:\.\.\/(guides|errors)\/|\.\/)?([\w-]+)\.md(#[\w-]+)?$/

const addressOf = (link: string, folder: string): string | undefined => {
  if (/^(?:https:\/\/|#)/.test(link)) return link
  const [, other, name, anchor = ""] = served.exec(link) ?? []
  if (name === undefined) return undefined
  // The list of the errors is in their guide.
  return name === "README" ? "/docs/guides/errors" : `/docs/${other ?? folder}/${name}${anchor}`
}

const inline = (text: string, folder: string): string => {
  // Code is left as it is: a character of private use stands for it meanwhile.
  const codes: Array<string> = []
  const marked = text.replaceAll(/`([^`]+)`/g, (_, code: string) => `\uE000${codes.push(code) - 1}\uE000`)
  return escaped(marked)
    .replaceAll(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>")
    .replaceAll(/&lt;(https:[^\s&]+)&gt;/g, '<a href="$1">$1</a>')
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, "")
    .replaceAll(/\[([^[\]]*)\]\(([^)\s]+)\)/g, (_, label: string, link: string) => {
      const address = addressOf(link, folder)
      return address === undefined ? label : `<a href="${address}">${label}</a>`
    })
    .replaceAll(/\uE000(\d+)\uE000/g, (_, index: string) => `<code>${escaped(codes[Number(index)]!)}</code>`)
}

/** The name of a heading in an address, as GitHub makes it. */
const slug = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-")

const cellsOf = (line: string): ReadonlyArray<string> =>
  line
    .replace(/^\s*\|/, "")
    .replace(/\|\s*$/, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll(String.raw`\|`, "|"))

const itemOf = /^( *)(?:[-*]|\d+\.) +(\S.*)$/

/** Renders blocks of Markdown. */
const blocks = (lines: ReadonlyArray<string>, folder: string): string => {
  const html: Array<string> = []
  let at = 0
  const while_ = (isPart: (line: string) => boolean): ReadonlyArray<string> => {
    const from = at
    while (at < lines.length && isPart(lines[at]!)) at++
    return lines.slice(from, at)
  }
  while (at < lines.length) {
    const line = lines[at]!
    const fence = /^ *(```+)/.exec(line)?.[1]
    const heading = /^(#+) +(\S.*)$/.exec(line)
    if (line.trim() === "") at++
    else if (fence !== undefined) {
      at++
      const code = while_((next) => next.trim() !== fence)
      at++
      html.push(`<pre tabindex="0"><code>${escaped(code.join("\n"))}</code></pre>`)
    } else if (heading) {
      at++
      const [, { length: level } = "", text = ""] = heading
      html.push(`<h${level} id="${slug(text)}">${inline(text, folder)}</h${level}>`)
    } else if (line.startsWith("|")) {
      const [head, , ...rows] = while_((next) => next.startsWith("|")).map(cellsOf)
      const row = (cells: ReadonlyArray<string>, tag: string) =>
        `<tr>${cells.map((cell) => `<${tag}>${inline(cell, folder)}</${tag}>`).join("")}</tr>`
      html.push(
        `<div class="table" tabindex="0"><table><thead>${row(head!, "th")}</thead><tbody>${rows.map((cells) => row(cells, "td")).join("")}</tbody></table></div>`
      )
    } else if (line.startsWith(">")) {
      const quoted = while_((next) => next.startsWith(">")).map((next) => next.replace(/^> ?/, ""))
      html.push(`<blockquote>${blocks(quoted, folder)}</blockquote>`)
    } else if (itemOf.test(line)) {
      const tag = /^ *\d/.test(line) ? "ol" : "ul"
      const items: Array<Array<string>> = []
      while (at < lines.length) {
        const next = lines[at]!
        const item = itemOf.exec(next)
        if (item !== null && item[1] === "") items.push([item[2]!])
        else if (next.startsWith("  ") || (next.trim() === "" && /^(?: {2}| ?\d+\. |[-*] )/.test(lines[at + 1] ?? "")))
          items.at(-1)!.push(next.replace(/^ {2,3}/, ""))
        else break
        at++
      }
      const content = (item: ReadonlyArray<string>): string => {
        const end = item.findIndex(
          (next, index) => index > 0 && (next.trim() === "" || /^ *(?:```|[-*] |\d+\. )/.test(next))
        )
        const [words, rest] = end === -1 ? [item, []] : [item.slice(0, end), item.slice(end)]
        return `${inline(words.join(" "), folder)}${blocks(rest, folder)}`
      }
      html.push(`<${tag}>${items.map((item) => `<li>${content(item)}</li>`).join("")}</${tag}>`)
    } else {
      const words = inline(
        while_((next) => next.trim() !== "" && !/^(?:#|\||>| *```)/.test(next) && !itemOf.test(next)).join(" "),
        folder
      )
      if (words !== "") html.push(`<p>${words}</p>`)
    }
  }
  return html.join("\n")
}

const style = `:root{color-scheme:light dark}body{max-width:760px;margin:0 auto;padding:16px 20px 64px;font:16px/1.6 system-ui,sans-serif;
color:light-dark(#15181e,#e7eaef);background:light-dark(#fff,#0e1115);overflow-wrap:break-word}nav{display:flex;gap:20px;padding-bottom:12px;
border-bottom:1px solid light-dark(#d8dde4,#2a313b)}a{color:light-dark(#2a56d0,#8eaeff)}h1{font-size:28px;line-height:1.25}h2{margin-top:2em;font-size:21px}
code,pre{font:.88em/1.55 ui-monospace,monospace}pre{padding:14px;overflow:auto;border-radius:8px;background:light-dark(#eceff3,#151920)}
.table{overflow:auto}table{border-collapse:collapse;font-size:15px}th,td{padding:6px 14px 6px 0;text-align:start;vertical-align:top;
border-bottom:1px solid light-dark(#d8dde4,#2a313b)}td code{overflow-wrap:normal}blockquote{margin:0;padding-inline-start:16px;border-inline-start:3px solid light-dark(#d8dde4,#2a313b)}`

/** The headers of each page: nothing but its own style runs or loads. */
export const headers = {
  "content-security-policy": `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
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
${blocks(markdown.replaceAll(/<!--[^]*?-->/g, "").split("\n"), folder)}
</main>
</body>
</html>
`
