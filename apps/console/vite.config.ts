/**
 * The build of the console: static files below `/console/`, with hashed names.
 */
import react from "@vitejs/plugin-react"
import { defineConfig, type Plugin } from "vite"

/**
 * Loads the theme before the first paint: a classic script in the head, because a module is deferred.
 */
const themeFirst = (): Plugin => ({
  name: "theme-first",
  transformIndexHtml: {
    order: "post",
    handler: (_html, { bundle }) => {
      const file = Object.keys(bundle ?? {}).find((name) => /^theme-[^/]+\.js$/.test(name))
      const attrs =
        bundle === undefined ? { type: "module", src: "/console/src/theme.ts" } : { src: `/console/${file}` }
      return [{ tag: "script", attrs, injectTo: "head-prepend" }]
    }
  }
})

/** Loads the typeface beside the scripts, so that the first words are already set in it. */
const typefaceEarly = (): Plugin => ({
  name: "typeface-early",
  transformIndexHtml: {
    order: "post",
    handler: (_html, { bundle = {} }) =>
      Object.keys(bundle)
        .filter((name) => /-latin-wght-normal-[^/]+\.woff2$/.test(name))
        .map((name) => ({
          tag: "link",
          attrs: { rel: "preload", as: "font", type: "font/woff2", crossorigin: "", href: `/console/${name}` },
          injectTo: "head"
        }))
  }
})

const server = process.env["GOVOICE_URL"] ?? "http://127.0.0.1:3000"

export default defineConfig({
  base: "/console/",
  plugins: [react(), themeFirst(), typefaceEarly()],
  resolve: { conditions: ["source", "module", "browser", "development|production"] },
  build: {
    target: ["chrome123", "firefox121", "safari17.5"],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // One style sheet: all of it is smaller than the requests that parts of it would cost.
    cssCodeSplit: false,
    reportCompressedSize: false,
    rolldownOptions: {
      // The entry exports nothing, so it joins the chunk of the first page.
      preserveEntrySignatures: false,
      input: { index: "index.html", theme: "src/theme.ts" },
      output: {
        entryFileNames: ({ name }) => (name === "theme" ? "theme-[hash].js" : "assets/[name]-[hash].js"),
        // What the page imports before anything is opened is one file. Screens that are opened later have their own.
        codeSplitting: {
          groups: [{ name: "console", tags: ["$initial"], test: (id) => !/\.css$|src\/theme\.ts$/.test(id) }]
        }
      }
    }
  },
  // `vite` serves the page. The API and the session are those of a running server.
  server: {
    port: 5173,
    host: "127.0.0.1",
    proxy: {
      "/v1": server,
      "/console/session": server,
      "/console/config.json": server
    }
  }
})
