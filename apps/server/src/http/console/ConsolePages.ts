/** Serves the page of the console, its files, and the part of the settings that it depends on. */
import { CurrentRequestId } from "@govoice/api"
import { Effect, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Settings } from "../../settings/Settings.ts"
import { version } from "../../version.ts"
import * as Responses from "../Responses.ts"
import * as ConsoleFiles from "./ConsoleFiles.ts"

/** The command that builds the console in a checkout. */
export const buildCommand = "npx -y pnpm@12 --filter @govoice/console build"

const missingPage = HttpServerResponse.text(
  `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Govoice</title></head>
<body>
<h1>The console is not built</h1>
<p>Build it, and start the server again:</p>
<pre>${buildCommand}</pre>
<p>The API is not affected. Its reference is at <a href="/docs">/docs</a>.</p>
</body>
</html>
`,
  { status: 503, contentType: "text/html; charset=utf-8", headers: { "cache-control": "no-store" } }
)

/** Adds the routes, with the files of a folder. */
export const layer = (folder: string) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const { apiEnabled, eventRetentionDays, liveMode, mail, signupOpen } = yield* Settings
      const files = yield* ConsoleFiles.read(folder)

      const config = HttpServerResponse.text(
        JSON.stringify({
          version,
          signup: signupOpen ? "open" : "closed",
          password_reset: mail !== undefined,
          live_mode: liveMode,
          api_enabled: apiEnabled,
          event_retention_days: eventRetentionDays
        }),
        { contentType: "application/json", headers: { "cache-control": "no-cache" } }
      )

      const page = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) =>
        Option.match(files, { onNone: () => missingPage, onSome: ({ page }) => page(headers) })
      )

      const assetOrPage = Effect.gen(function* () {
        const { "*": path = "" } = yield* HttpRouter.params
        if (!ConsoleFiles.isAsset(path)) return yield* page
        const asset = Option.getOrUndefined(files)?.assets.get(path)
        if (asset === undefined) return Responses.problem("not_found", yield* CurrentRequestId)
        return asset((yield* HttpServerRequest.HttpServerRequest).headers)
      })

      yield* router.add("GET", "/console/config.json", config)
      // `/console` itself, too.
      yield* router.add("GET", "/console/*", assetOrPage)
    })
  )
