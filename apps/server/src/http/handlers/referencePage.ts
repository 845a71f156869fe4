/**
 * The page of the API reference: the viewer that Effect ships, our document, and a policy under which both run and nothing
 * else. Everything is in the page, and no part of it calls another host.
 */
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApi, HttpApiScalar, type OpenApi } from "effect/http-api"
import { createHash } from "node:crypto"
import { loadMarkdownPage } from "./Guides.ts"

/** The place of the page: a server, or a site of files without a server. */
export interface Place {
  /** The URLs of the icon and of the document, absolute or relative to the page. */
  readonly icon: string
  readonly document: string
  /** Of a site of files: the page to go back to. The policy is then in the page, and requests cannot be tried. */
  readonly home?: string
}

const server: Place = { icon: "/favicon.svg", document: "/openapi.json" }

// Parts of the viewer that this page turns off: fonts and telemetry of other hosts, and links to services of its
// vendor. `agent` and `mcp` are switched on by some versions on loopback.
const configuration = {
  withDefaultFonts: false,
  telemetry: false,
  persistAuth: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true },
  metaData: { title: "Govoice API" },
  theme: "default",
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  customCss: `:root {
    --scalar-font: system-ui, sans-serif;
    --scalar-font-code: ui-monospace, monospace;
  }
  a[href*="scalar.com"] { display: none; }
  /* There are no such libraries. */
  .scalar-reference-intro-clients { display: none; }`
}

// The viewer is the first script of the page that Effect makes; its module is not exported.
const readViewer = Effect.acquireUseRelease(
  Effect.sync(() => HttpRouter.toWebHandler(HttpApiScalar.layer(HttpApi.make("none")), { disableLogger: true })),
  ({ handler }) =>
    Effect.promise(async () => {
      const page = await (await handler(new Request("http://localhost/docs"))).text()
      const viewer = /<script>([^]*?)<\/script>/i.exec(page)?.[1]
      if (viewer === undefined || !viewer.includes("createApiReference")) {
        throw new Error("The reference page of Effect does not contain the viewer")
      }
      return viewer
    }),
  ({ dispose }) => Effect.promise(dispose)
)

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

// The viewer reads `examples` of a media type or parameter, and passes over `example`. A sample has every parameter with a schema,
// such as a cursor of another list: an optional one has its schema in a content, where the viewer shows it and samples leave it out.
const withExamples = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withExamples)
  if (!isRecord(value)) return value
  const copy = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withExamples(member)]))
  if (!("schema" in value && "example" in value)) return copy
  const { example, ...rest } = copy
  if (!("in" in value) || value["required"] === true) return { ...rest, examples: { default: { value: example } } }
  const { schema, ...parameter } = rest as { readonly schema?: object }
  return { ...parameter, content: { "text/plain": { schema: { ...schema, examples: [example] } } } }
}

const inScript = (value: unknown): string => JSON.stringify(value).replaceAll("<", String.raw`\u003c`)

const sourceOf = (script: string): string => `'sha256-${createHash("sha256").update(script).digest("base64")}'`

const policyOf = (scripts: ReadonlyArray<string>): string =>
  [
    "default-src 'none'",
    `script-src ${scripts.map(sourceOf).join(" ")}`,
    // The viewer inserts its styles at run time.
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")

/** Makes the page of a document, and its content security policy. */
export const make = Effect.fnUntraced(function* (document: OpenApi.OpenAPISpec, place: Place = server) {
  const viewer = yield* readViewer
  const { navigation, navigationStyle } = yield* loadMarkdownPage
  const settings = { ...configuration, favicon: place.icon, hideTestRequestButton: place.home !== undefined }
  const start = `Scalar.createApiReference("#reference", ${inScript({ ...settings, content: withExamples(document) })})`
  const policy = policyOf([viewer, start])
  // A page cannot say who frames it: browsers ignore that directive outside of headers.
  const inPage = policy.replace("; frame-ancestors 'none'", "")
  const ofSite = place.home === undefined ? "" : `<meta http-equiv="content-security-policy" content="${inPage}">\n`
  // The site has its typeface elsewhere.
  const head =
    place.home === undefined
      ? `<style>:root{color-scheme:light dark}${navigationStyle}</style>\n${navigation}\n`
      : `<p style="margin: 1rem; font: 1rem system-ui"><a href="${place.home}">Documentation</a></p>\n`
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${ofSite}<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Govoice API</title>
<link rel="icon" href="${place.icon}" type="image/svg+xml">
</head>
<body>
${head}<div id="reference"></div>
<noscript>The reference needs JavaScript. The document is at <a href="${place.document}">${place.document}</a>.</noscript>
<script>${viewer}</script>
<script>${start}</script>
</body>
</html>
`
  return { html, policy }
})
