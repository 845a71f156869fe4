/** When the API reference is prepared: its viewer is 3 MB of text, which a process that nobody asks for it does not load. */
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, describe, it, vi } from "vitest"
import * as Precompressed from "../../../src/http/Precompressed.ts"
import * as referencePage from "../../../src/http/handlers/referencePage.ts"
import * as Reference from "../../../src/http/handlers/Reference.ts"

vi.mock(import("../../../src/http/handlers/referencePage.ts"), async (original) => {
  const { make } = await original()
  return { make: vi.fn(make) }
})

const started = () => vi.mocked(referencePage.make).mock.calls.length

const serve = (folder = Reference.folder) => {
  const { dispose, handler } = HttpRouter.toWebHandler(Reference.layerFrom(folder), { disableLogger: true })
  const get = (path: string, signal?: AbortSignal, headers: Record<string, string> = {}) =>
    handler(new Request(`http://localhost${path}`, signal === undefined ? { headers } : { headers, signal }))
  return { dispose, get }
}

describe("the page of the API reference", () => {
  afterEach(() => vi.mocked(referencePage.make).mockClear())

  it("is prepared once, with the first request for it", async () => {
    const { dispose, get } = serve()
    assert.strictEqual((await get("/favicon.svg")).status, 200)
    assert.strictEqual((await get("/openapi.json")).status, 200)
    assert.strictEqual(started(), 0)

    const [first, second] = await Promise.all([get("/docs"), get("/docs")])
    assert.strictEqual(await first.text(), await second.text())
    assert.strictEqual((await get("/docs")).status, 200)
    assert.strictEqual(started(), 1)
    await dispose()
  })

  it("is prepared anew after a failure", async () => {
    const { dispose, get } = serve()
    vi.mocked(referencePage.make).mockImplementationOnce(() => Effect.die("no memory"))
    assert.strictEqual((await get("/docs")).status, 500)
    assert.strictEqual((await get("/docs")).status, 200)
    assert.strictEqual(started(), 2)
    await dispose()
  })

  it("is served after the first request for it was aborted", async () => {
    const { dispose, get } = serve()
    const { promise: isAborted, resolve: release } = Promise.withResolvers<void>()
    const { make } = await vi.importActual<typeof referencePage>("../../../src/http/handlers/referencePage.ts")
    vi.mocked(referencePage.make).mockImplementationOnce((...args) =>
      Effect.andThen(
        Effect.promise(() => isAborted),
        make(...args)
      )
    )
    const controller = new AbortController()
    const aborted = get("/docs", controller.signal).then(
      ({ status }) => status,
      () => "rejected"
    )
    await vi.waitUntil(() => started() === 1)
    controller.abort()
    // The request ends while its page is being prepared.
    assert.notStrictEqual(await aborted, 200)
    release()

    const { status } = await get("/docs")
    assert.strictEqual(status, 200)
    assert.strictEqual(started(), 1)
    await dispose()
  })

  it("is read from the files of the build, with the headers of a page that is made", async () => {
    const folder = mkdtempSync(join(tmpdir(), "reference-"))
    for (const name of ["docs.html", "openapi.json"] as const)
      await Precompressed.write(join(folder, name), await Effect.runPromise(Reference.texts[name]))
    vi.mocked(referencePage.make).mockClear()
    const fromFiles = serve(folder)
    const made = serve()
    const answersOf = ({ get }: ReturnType<typeof serve>) =>
      Promise.all(
        ["/docs", "/openapi.json"].flatMap((path) =>
          ["br", "gzip", "identity"].map(async (coding) => {
            const response = await get(path, undefined, { "accept-encoding": coding })
            const body = Buffer.from(await response.arrayBuffer()).toString("base64")
            return { path, coding, status: response.status, headers: [...response.headers], body }
          })
        )
      )
    const read = await answersOf(fromFiles)
    assert.strictEqual(started(), 0)
    assert.deepStrictEqual(read, await answersOf(made))
    assert.strictEqual(started(), 1)
    await Promise.all([fromFiles.dispose(), made.dispose()])
    rmSync(folder, { recursive: true })
  })
})
