/**
 * Changes to TypeDoc: the pages of the roles and the guides come before packages, also in the search; links to folders lead to
 * their README; links and icons work from a file system; diagrams are drawn, because the site loads no script of another host;
 * wide tables and code scroll in boxes of their own; the typeface is that of the console.
 */
import { copyFileSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { PageEvent, ReflectionKind, RendererEvent } from "typedoc"
import { drawDiagrams } from "./drawing.ts"

const isFolder = (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

const first = ["Start", "Guides"]
const order = [...first, "Errors", "packages", "Project", "Decisions"]

const pagesFirst = (project) => {
  const rank = (child) => order.indexOf(child.isDocument() ? child.name : "packages")
  project.childrenIncludingDocuments?.sort((left, right) => rank(left) - rank(right))
}

// In the search, guides before symbols, and these before the pages of errors and decisions. A name weighs 1,000 times a text by
// itself, and ten times more where it is the whole query; a query that is the name of a symbol still has it among its results.
const boostPages = (project) => {
  for (const document of project.getReflectionsByKind(ReflectionKind.Document))
    document.relevanceBoost = first.includes(document.parent?.name) ? 6000 : 10
}

const leadFoldersToTheirPages = (project) => {
  for (const path of project.files.getMediaPaths()) {
    if (!isFolder(path)) continue
    const page = project.files.resolve(project.files.registerAbsolute(join(path, "README.md")).target, project)
    if (typeof page === "object") project.files.registerReflectionPath(path, page)
  }
}

// The box scrolls, not the table: a table that is no block keeps its role. The keyboard can scroll what has the focus.
const boxTables = (html) =>
  html
    .replaceAll(/<table\b/g, '<div class="wide" role="region" aria-label="Table" tabindex="0"><table')
    .replaceAll("</table>", "</table></div>")

// Code scrolls, too.
const focusCode = (html) => html.replaceAll("<pre><code", '<pre tabindex="0"><code')

// A long name in capitals breaks after its parts.
const breakNames = (html) =>
  html.replaceAll(
    /<code>([A-Z][A-Z\d]*(?:_[A-Z\d]+){2,})<\/code>/g,
    (_, name) => `<code>${name.replaceAll("_", "_<wbr/>")}</code>`
  )

// Links of `navigationLinks`, and the files that `buildReference.ts` of the server writes into the root of the site.
const linkReference = (html, base) =>
  html
    .replaceAll(/href="(reference\.html|documents\/Guides\.html)"/g, `href="${base}$1"`)
    .replaceAll(/<code>(reference\.html|openapi\.json)<\/code>/g, `<a href="${base}$1"><code>$1</code></a>`)

// The typeface of the console, declared as there, with its license.
const typeface = (folder) => {
  const from = createRequire(import.meta.resolve("../apps/console/package.json"))
  const declarations = readFileSync(join(import.meta.dirname, "../apps/console/src/styles/typeface.css"), "utf8")
  const styles = readFileSync(join(import.meta.dirname, "site.css"), "utf8")
  const files = "@fontsource-variable/hanken-grotesk/files/"
  writeFileSync(join(folder, "custom.css"), `${declarations.replaceAll(files, "")}\n${styles}`)
  const license = from.resolve("@fontsource-variable/hanken-grotesk/LICENSE")
  copyFileSync(license, join(folder, "hanken-grotesk-license.txt"))
  for (const letters of ["latin", "latin-ext"]) {
    const name = `hanken-grotesk-${letters}-wght-normal.woff2`
    copyFileSync(from.resolve(`@fontsource-variable/hanken-grotesk/files/${name}`), join(folder, name))
  }
}

const isPolish = (page) => page.model.isDocument?.() && page.model.name === "Dla integratorów"

export const load = (app) => {
  app.renderer.on(RendererEvent.BEGIN, ({ project }) => {
    pagesFirst(project)
    boostPages(project)
    leadFoldersToTheirPages(project)
  })
  app.renderer.on(PageEvent.END, (page) => {
    if (page.contents === undefined) return
    const base = "../".repeat(page.url.split("/").length - 1)
    page.contents = linkReference(breakNames(focusCode(boxTables(drawDiagrams(page.contents)))), base)
      .replace("<body>", page.url === "index.html" ? '<body class="home">' : "<body>")
      .replace(' lang="en"', isPolish(page) ? ' lang="pl"' : ' lang="en"')
      .replaceAll('href="../#', 'href="../index.html#')
      .replaceAll('href="../"', 'href="../index.html"')
      .replaceAll(/href="[^"]*assets\/icons\.svg#/g, 'href="#')
  })
  // After TypeDoc has written its own files.
  app.renderer.on(RendererEvent.END, ({ outputDirectory }) => typeface(join(outputDirectory, "assets")), -1000)
}
