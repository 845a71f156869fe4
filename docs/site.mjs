/**
 * Changes to TypeDoc: the pages of the roles and the guides come before packages, also in the search; links to folders lead to
 * their README; links and icons work from a file system; diagrams are drawn, because the site loads no script of another host;
 * wide tables scroll in a box of their own.
 */
import { statSync } from "node:fs"
import { join } from "node:path"
import { PageEvent, ReflectionKind, RendererEvent } from "typedoc"
import { drawDiagrams } from "./drawing.ts"

const isFolder = (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

const first = ["Start", "Guides"]

const pagesFirst = (project) => {
  const rank = (child) => {
    const index = first.indexOf(child.name)
    if (index !== -1) return index
    return child.isDocument() ? 3 : 2
  }
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

// `buildReference.ts` of the server writes both files into the root of the site.
const linkReference = (html, base) =>
  html
    .replaceAll('href="reference.html"', `href="${base}reference.html"`)
    .replaceAll(/<code>(reference\.html|openapi\.json)<\/code>/g, `<a href="${base}$1"><code>$1</code></a>`)

export const load = (app) => {
  app.renderer.on(RendererEvent.BEGIN, ({ project }) => {
    pagesFirst(project)
    boostPages(project)
    leadFoldersToTheirPages(project)
  })
  app.renderer.on(PageEvent.END, (page) => {
    if (page.contents === undefined) return
    const base = "../".repeat(page.url.split("/").length - 1)
    page.contents = linkReference(boxTables(drawDiagrams(page.contents)), base)
      .replaceAll('href="../#', 'href="../index.html#')
      .replaceAll('href="../"', 'href="../index.html"')
      .replaceAll(/href="[^"]*assets\/icons\.svg#/g, 'href="#')
  })
}
