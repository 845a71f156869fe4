/**
 * Writes a Markdown twin beside each page of the guides, errors, decisions and project pages, and `llms.txt`, which lists them.
 * Assistants then read what people read.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join, posix } from "node:path"
import { PageEvent, ReflectionKind, RendererEvent } from "typedoc"

/** The address of the twin of a page. */
export const twinOf = (url) => url.replace(/\.html$/, ".md")

// Links between pages lead to twins; other links lead where those of the page lead.
const textOf = (router, project, document) => {
  const from = posix.dirname(router.getFullUrl(document))
  return document.content
    .map((part) => {
      const target = part.kind === "relative-link" && part.target && project.files.resolve(part.target, project)
      if (!target) return part.text
      const url = typeof target === "string" ? `media/${project.files.getName(part.target)}` : router.getFullUrl(target)
      const anchor = part.targetAnchor ? `#${part.targetAnchor}` : ""
      return posix.relative(from, typeof target !== "string" && target.isDocument() ? twinOf(url) : url) + anchor
    })
    .join("")
}

const write = (folder, url, text) => {
  const path = join(folder, url)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

export const load = (app) => {
  app.renderer.on(PageEvent.END, (page) => {
    if (!page.model.isDocument?.()) return
    const twin = posix.basename(twinOf(page.url))
    page.contents = page.contents?.replace(
      "</head>",
      `<link rel="alternate" type="text/markdown" href="${encodeURI(twin)}"/></head>`
    )
  })

  app.renderer.on(RendererEvent.END, ({ outputDirectory, project }) => {
    const { router } = app.renderer
    const sections = new Map()
    for (const document of project.getReflectionsByKind(ReflectionKind.Document)) {
      const url = twinOf(router.getFullUrl(document))
      write(outputDirectory, url, `# ${document.name}\n\n${textOf(router, project, document).replace(/^# .*\n+/, "")}`)
      const section = document.parent?.isDocument() ? document.parent.name : undefined
      if (section !== undefined)
        sections.set(section, [...(sections.get(section) ?? []), `- [${document.name}](${encodeURI(url)})`])
    }
    const lists = Array.from(sections, ([name, lines]) => `## ${name}\n\n${lines.join("\n")}\n`)
    const head =
      "# Govoice\n\n> Takes invoice XML over HTTP, carries it to Poland's KSeF, and sends signed webhooks. Each page below is Markdown.\n"
    const api = "## API\n\n- [OpenAPI 3.1 document](openapi.json)\n"
    write(outputDirectory, "llms.txt", [head, ...lists, api].join("\n"))
  })
}
