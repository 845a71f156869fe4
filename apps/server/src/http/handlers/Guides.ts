/** Serves the guides at `/docs/guides`. */
import { CurrentRequestId } from "@govoice/api"
import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Responses from "../Responses.ts"
import * as markdownPage from "./markdownPage.ts"

/** The folder of the guides: beside the bundle, or that of the repository. */
export const folder = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../../../../docs/guides/" : "./guides/", import.meta.url)
)

const isName = (name: string): boolean => /^[a-z][a-z-]*$/.test(name)

const read = (from: string, name: string): Promise<string | undefined> =>
  readFile(join(from, `${name}.md`), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined
    throw error
  })

const contents = async (from: string): Promise<string> => {
  const files = await readdir(from)
  const names = files.filter((file) => file.endsWith(".md")).map((file) => file.slice(0, -3))
  const guides = await Promise.all(
    names.map(async (name) => ({ name, title: markdownPage.titleOf((await read(from, name)) ?? "") }))
  )
  const lines = guides
    .sort((one, other) => one.title.localeCompare(other.title, "en"))
    .map(({ name, title }) => `- [${title}](${name}.md)`)
  return `# Guides\n\n${lines.join("\n")}\n`
}

const respond = (markdown: string, language?: string) =>
  HttpServerResponse.text(markdownPage.make(markdown, "guides", language), {
    contentType: "text/html; charset=utf-8",
    headers: markdownPage.headers
  })

/** Adds the routes. A guide is read when it is asked for. */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    yield* router.add(
      "GET",
      "/docs/guides",
      Effect.map(
        Effect.promise(() => contents(folder)),
        (markdown) => respond(markdown)
      )
    )
    yield* router.add(
      "GET",
      "/docs/guides/:name",
      Effect.gen(function* () {
        const { name = "" } = yield* HttpRouter.params
        const markdown = isName(name) ? yield* Effect.promise(() => read(folder, name)) : undefined
        return markdown === undefined
          ? Responses.problem("not_found", yield* CurrentRequestId)
          : respond(markdown, name.endsWith("-pl") ? "pl" : "en")
      })
    )
  })
)
