/** The built documentation site: its files, the blocks of its pages, and a server for it. */
import { once } from "node:events"
import { existsSync, globSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import { dirname, extname, join, resolve, sep } from "node:path"

/** The folder of the checkout. */
export const root = resolve(import.meta.dirname, "../../..")

/** The folder of the site. */
export const folder = join(root, "docs/api")

if (!existsSync(join(folder, "reference.html"))) {
  throw new Error("docs/api has no complete site. Run: npx -y pnpm@12 run docs")
}

/** Returns a file of the site. */
export const read = (path: string): string => readFileSync(join(folder, path), "utf8")

/** The pages of the site, relative to its folder. */
export const pages: ReadonlyArray<string> = globSync("**/*.html", { cwd: folder }).sort()

/** The pages that are documents: guides, errors, decisions and others that have a Markdown twin. */
export const documents: ReadonlyArray<string> = pages.filter((page) => dirname(page) === "documents")

/** The page of a role, and the file that it is made from. */
export const sources: ReadonlyArray<readonly [page: string, source: string]> = [
  ["index.html", "docs/contents/Home.md"],
  ...["integrators", "receivers", "operators", "embedders"].map(
    (role) => [`documents/Start.For_${role}.html`, `docs/guides/${role}.md`] as const
  ),
  ["documents/Start.Dla_integratorów.html", "docs/guides/integrators-pl.md"]
]

const unescape = (html: string): string =>
  html
    .replaceAll("&gt;", ">")
    .replaceAll("&lt;", "<")
    .replaceAll("&quot;", '"')
    .replaceAll(/&#(?:39|x27);/g, "'")
    .replaceAll("&nbsp;", "\u{A0}")
    .replaceAll("&amp;", "&")

/** Returns the text of the code blocks of a page, in order. */
export const blocksOfPage = (html: string): ReadonlyArray<string> =>
  Array.from(html.matchAll(/<pre tabindex="0"><code class="\w+">([^]*?)<\/code>/g), ([, code]) =>
    unescape(code!.replaceAll(/<br\/?>/g, "\n").replaceAll(/<[^>]*>/g, ""))
  )

/** Returns the targets of `href` and `src` that are relative, without their anchors. */
export const targetsOf = (html: string): ReadonlyArray<string> =>
  Array.from(html.replaceAll(/<script>[^]*?<\/script>/g, "").matchAll(/\s(?:href|src)="([^"#?]*)/g), ([, target]) =>
    decodeURI(unescape(target!))
  ).filter((target) => target !== "" && !/^[a-z][a-z+.-]*:/i.test(target))

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".json": "application/json"
}

/** Serves the site on loopback. */
export const serve = async () => {
  const server = createServer((request, response) => {
    const path = resolve(folder, `.${decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname)}`)
    if (!path.startsWith(folder + sep) || !existsSync(path) || extname(path) === "") {
      response.writeHead(404).end()
      return
    }
    response.writeHead(200, { "content-type": types[extname(path)] ?? "application/octet-stream" })
    response.end(readFileSync(path))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
