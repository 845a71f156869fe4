/**
 * Changes to TypeDoc: guides come before packages, also in the search, links to folders lead to their README, links and icons
 * work from a file system, and diagrams are drawn, because the site loads no script of another host.
 */
import { statSync } from "node:fs"
import { join } from "node:path"
import { PageEvent, ReflectionKind, RendererEvent } from "typedoc"
import { drawDiagrams } from "./drawing.ts"

const isFolder = (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

const guidesFirst = (project) => {
  const rank = (child) => (child.name === "Guides" ? 0 : child.isDocument() ? 2 : 1)
  project.childrenIncludingDocuments?.sort((left, right) => rank(left) - rank(right))
}

// In the search, guides before the pages of errors and decisions. A page that has a word in its text is a better result than
// a symbol with the word in its name.
const boostPages = (project) => {
  for (const document of project.getReflectionsByKind(ReflectionKind.Document))
    document.relevanceBoost = document.parent?.name === "Guides" ? 60 : 10
}

const leadFoldersToTheirPages = (project) => {
  for (const path of project.files.getMediaPaths()) {
    if (!isFolder(path)) continue
    const page = project.files.resolve(project.files.registerAbsolute(join(path, "README.md")).target, project)
    if (typeof page === "object") project.files.registerReflectionPath(path, page)
  }
}

export const load = (app) => {
  app.renderer.on(RendererEvent.BEGIN, ({ project }) => {
    guidesFirst(project)
    boostPages(project)
    leadFoldersToTheirPages(project)
  })
  app.renderer.on(PageEvent.END, (page) => {
    if (page.contents === undefined) return
    page.contents = drawDiagrams(page.contents)
      .replaceAll('href="../#', 'href="../index.html#')
      .replaceAll('href="../"', 'href="../index.html"')
      .replaceAll(/href="[^"]*assets\/icons\.svg#/g, 'href="#')
  })
}
