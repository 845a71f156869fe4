/** The explanations of the console when a receiver fails, and the steps that cannot be undone. */
import type { Browser } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { freePort } from "../support/freePort.ts"
import { isMissing, launch, watch } from "./support/chromium.ts"
import { cancelThenConfirm } from "./support/confirmation.ts"
import { deploy, type Deployment } from "./support/deployment.ts"
import { hold } from "./support/hold.ts"
import { Owner, until } from "./support/owner.ts"
import { reachable, type Receivers, startReceivers } from "./support/receivers.ts"

interface Delivery {
  readonly id: string
  readonly endpoint_id: string
  readonly status: string
  readonly next_retry_at: string | null
}

const deliveriesOf = async (owner: Owner): Promise<ReadonlyArray<Delivery>> =>
  (await owner.call("GET", "organizations/{org}/deliveries?limit=100"))["data"] as ReadonlyArray<Delivery>

describe.skipIf(isMissing)("the console", () => {
  let browser: Browser
  let server: Deployment
  let receivers: Receivers

  beforeAll(async () => {
    receivers = await startReceivers()
    server = await deploy(reachable)
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    receivers?.close()
  })

  it("shows why each webhook was not delivered: 404, 302, 503, no answer, an invalid certificate", async () => {
    const owner = await Owner.make(server)
    const { untrustedUrl, url } = receivers
    const cases = [
      [`${url}/404`, "failed", "404 Not Found", /receiver does not have this path/],
      [`${url}/302`, "failed", "302 Found", /redirects are not followed. Enter the final URL/],
      [`${url}/503`, "retrying", "503 Service Unavailable", /receiver failed.+honors Retry-After/],
      [`${url}/hang`, "retrying", "timed out", /did not answer in time. Answer 2xx/],
      [untrustedUrl, "retrying", "no connection", /^The certificate is not valid: it has expired, is self-signed/]
    ] as const
    const endpoints = await Promise.all(cases.map(([target]) => owner.createEndpoint(target)))
    const closedUrl = `http://127.0.0.1:${await freePort()}/hooks`
    const nothing = await owner.createEndpoint(closedUrl)
    await owner.submit(await owner.createKey(), "troubles")
    const settled = await until(
      () => deliveriesOf(owner),
      (all) =>
        [...endpoints, nothing].every((id) =>
          all.some((one) => one.endpoint_id === id && /failed|retrying/.test(one.status))
        )
    )

    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    await owner.open(page)
    const troubles = page.getByRole("table", { name: "Recent failures" })
    await troubles.getByText("timed out").first().waitFor()
    for (const [index, [, status, summary, advice]] of cases.entries()) {
      const { endpoint_id: endpoint, id } = settled.find(
        (one) => one.endpoint_id === endpoints[index] && one.status === status
      )!
      await owner.show(page, `/endpoints/${endpoint}/deliveries/${id}`)
      const course = page.getByRole("region", { name: "What happened" })
      await course.getByText(advice).waitFor()
      const text = await course.innerText()
      assert.include(text, summary)
      assert.include(text, status === "failed" ? "Failed: there are no further attempts" : "Next attempt")

      // The health of the endpoint names the same reason and advice, and leads to its newest delivery.
      await owner.show(page, `/endpoints/${endpoint}`)
      const reason = page
        .getByRole("table", { name: "Why deliveries fail" })
        .locator("[data-row]", { hasText: summary })
      await reason.waitFor()
      if (!summary.includes("connection")) assert.match(await reason.innerText(), advice)
      await reason.getByRole("link").click()
      await course.getByText(`: ${summary}`).waitFor()
      assert.include(page.url(), `/endpoints/${endpoint}/deliveries/wd_`)
    }
    // The list has the reason in a word.
    await owner.show(page, "/deliveries?status=retrying")
    for (const word of ["503 Service Unavailable", "timed out", "no connection"]) {
      await page.getByRole("table").getByText(word, { exact: true }).first().waitFor()
    }
    // A receiver that cannot be reached: the page has a request that tells the causes apart, without the one of TLS.
    const closed = settled.find((one) => one.endpoint_id === nothing && one.status === "retrying")!
    await owner.show(page, `/endpoints/${nothing}/deliveries/${closed.id}`)
    const course = page.getByRole("region", { name: "What happened" })
    await course.getByText("Nothing is listening on the port.").waitFor()
    const text = await course.innerText()
    assert.include(text, `curl -v -X POST '${closedUrl}'`)
    assert.notInclude(text, "The certificate is not valid")
    // Retry-After is an hour, and the schedule ten minutes.
    const throttled = settled.find((one) => one.endpoint_id === endpoints[2] && one.status === "retrying")!
    assert.isAbove(Date.parse(throttled.next_retry_at!) - Date.now(), 45 * 60_000)
    await owner.show(page, `/endpoints/${endpoints[2]}/deliveries/${throttled.id}`)
    await page
      .getByText(/Next attempt\s*in (?:59 min|60 min|1 h)/)
      .first()
      .waitFor()
    await end()
  })

  it("shows the counts of deliveries of 24 h and of 7 days on the overview, in bars and in a table", async () => {
    const owner = await Owner.make(server)
    await owner.createEndpoint(`${receivers.url}/204`)
    await owner.createEndpoint(`${receivers.url}/404`)
    await owner.submit(await owner.createKey(), "counts")
    const deliveries = await until(
      () => deliveriesOf(owner),
      // An accepted invoice has four events, and each goes to both endpoints.
      (all) => all.length === 8 && all.every(({ status }) => /succeeded|failed/.test(status))
    )
    const each = deliveries.length / 2
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    await owner.open(page)
    const bars = (window: string, path: string, troubles: number) =>
      page.getByRole("img", {
        name: `last ${window} to ${receivers.url}/${path}: ${each} deliveries, ${troubles} of them retrying`
      })
    await bars("24 hours", "204", 0).waitFor()
    await bars("24 hours", "404", each).waitFor()
    await page.getByRole("link", { name: "Show 7 days" }).click()
    await bars("7 days", "404", each).waitFor()
    await page.getByRole("link", { name: "As a table" }).click()
    const table = page.getByRole("table", { name: "Deliveries of the last 7 days" })
    await table.waitFor()
    assert.strictEqual(await bars("7 days", "404", each).count(), 0)
    const rows = (await table.locator("[data-row]").allInnerTexts()).map((row) => row.split("\t"))
    const sum = (column: number) => rows.reduce((total, row) => total + Number(row[column]), 0)
    assert.deepStrictEqual([sum(2), sum(3), sum(4)], [deliveries.length, 0, each])
    assert.strictEqual(new URL(page.url()).search, "?window=7d&as=table")
    await end()
  })

  it("moves no link of the overview when its counts and steps come", async () => {
    const owner = await Owner.make(server)
    await owner.createEndpoint(`${receivers.url}/204`)
    await owner.submit(await owner.createKey(), "delivered")
    await until(
      () => deliveriesOf(owner),
      (all) => all.some(({ status }) => status === "succeeded")
    )
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    await owner.open(page, "/keys")
    const answer = await hold(page, /\/overview\?/)
    await owner.show(page)
    const link = page.getByRole("link", { name: "Show 7 days" })
    await link.waitFor()
    const before = await link.boundingBox()
    answer()
    await page.getByText(/^(?:Everything is being delivered|Something needs your attention)\.$/).waitFor()
    await page.getByRole("img", { name: `last 24 hours to ${receivers.url}/204` }).waitFor()
    assert.deepStrictEqual(await link.boundingBox(), before)
    await end()
  })

  it("counts test invoices that the sandbox rejected, and raises no alarm", async () => {
    const owner = await Owner.make(server)
    await owner.createEndpoint(`${receivers.url}/204`)
    const id = await owner.submit(await owner.createKey(), "rejected", { scenario: "rejected" })
    await until(
      () => owner.call("GET", `organizations/{org}/invoices/${id}`),
      ({ status }) => status === "rejected"
    )
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    await owner.open(page)
    await page.getByRole("link", { name: "1 invoice rejected" }).waitFor()
    await page.getByText("Everything is being delivered.").waitFor()
    await owner.show(page, `/invoices/${id}`)
    await page.getByText("The sandbox has rejected the invoice.").waitFor()
    await end()
  })

  it("disables and deletes an endpoint only after a confirmation, which names the consequences", async () => {
    const owner = await Owner.make(server)
    const endpoint = await owner.createEndpoint(`${receivers.url}/503`)
    await owner.submit(await owner.createKey(), "waits")
    await until(
      () => deliveriesOf(owner),
      (all) => all.filter(({ status }) => status === "retrying").length >= 3
    )
    const { context, end } = await watch(browser, server.url, { expected: /status of 404/ })
    const page = await context.newPage()
    await owner.open(page, `/endpoints/${endpoint}/settings`)

    await page.getByRole("button", { name: "Turn off", exact: true }).click()
    await page.getByText(/\d deliveries under way end as “endpoint off” at the next attempt/).waitFor()
    await page.keyboard.press("Escape")
    assert.strictEqual((await owner.call("GET", `webhook-endpoints/${endpoint}`))["enabled"], true)
    await cancelThenConfirm(page, "Turn off", "Turn off")
    await page.getByText("Endpoint turned off").first().waitFor()
    assert.strictEqual((await owner.call("GET", `webhook-endpoints/${endpoint}`))["enabled"], false)
    await cancelThenConfirm(page, "Delete", "Delete", new URL(receivers.url).host)
    await page.getByText("No endpoints yet").waitFor()
    assert.deepStrictEqual(await deliveriesOf(owner), [])
    await end()
  })

  it("revokes a live API key only after its last four characters were typed", async () => {
    const owner = await Owner.make(server)
    const key = await owner.createKey("live")
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    await owner.open(page, "/keys")
    await cancelThenConfirm(page, `Revoke the key that ends in ${key.slice(-4)}`, "Revoke", key.slice(-4))
    await page.getByText("No API keys yet").waitFor()
    await end()
  })

  it("offers no deletion of an organization, and shows how to stop its traffic", async () => {
    const owner = await Owner.make(server)
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    await owner.open(page, "/settings")
    await page.getByText("An organization cannot be deleted. Revoke its keys and delete its endpoints").waitFor()
    assert.strictEqual(await page.getByRole("button", { name: /delete/i }).count(), 0)
    await end()
  })
})
