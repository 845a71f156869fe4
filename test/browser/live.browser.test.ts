/** Live mode in the console, with the simulator as the national system. */
import { createHash, X509Certificate } from "node:crypto"
import type { Browser } from "playwright-core"
import { encode } from "uqr"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { fa3 } from "../../apps/server/test/support/live.ts"
import { unitOf } from "../../apps/server/test/support/nips.ts"
import { type Simulator, startSimulator } from "../../packages/ksef-simulator/src/index.ts"
import { file as pkcs12 } from "../../packages/ksef/test/support/pkcs12.ts"
import { isMissing, launch, watch } from "./support/chromium.ts"
import { cancelThenConfirm } from "./support/confirmation.ts"
import { deploy, type Deployment } from "./support/deployment.ts"
import { Owner, until } from "./support/owner.ts"

describe.skipIf(isMissing)("live mode in the console", () => {
  let browser: Browser
  let server: Deployment
  let simulator: Simulator

  beforeAll(async () => {
    simulator = await startSimulator({ processingMs: 0 })
    server = await deploy({ GOVOICE_LIVE_MODE: "true", GOVOICE_KSEF_URL: simulator.url })
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    await simulator?.close()
  })

  const invoiceWith = (owner: Owner, id: string, isExpected: (invoice: Record<string, unknown>) => boolean) =>
    until(
      async () => (await owner.call("GET", `organizations/{org}/invoices/${id}`)) as Record<string, unknown>,
      isExpected
    )

  it("stores, judges, replaces and removes a credential, and never shows its secret", async () => {
    const owner = await Owner.make(server)
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    const main = page.getByRole("main")
    await owner.open(page, "/live")
    await main.getByText("No credential for KSeF is stored yet.").waitFor()
    // Before the owner looks for a credential, the page names the environment that it has to be for.
    await main.getByText(`Environment of KSeF: ${simulator.url}`).waitFor()

    // The page proposes a certificate.
    assert.isTrue(await main.getByRole("radio", { name: "Certificate" }).isChecked())
    await main.getByRole("radio", { name: "KSeF token" }).check()
    await main.getByLabel("NIP").fill("5265877636")
    await main.getByLabel("KSeF token").last().fill("x")
    await page.getByRole("button", { name: "Store the credential" }).click()
    await main.getByText("the last of which is a check digit. This one is wrong.").waitFor()

    // A token that the national system refuses.
    const wrong = `${simulator.token.slice(0, -1)}${simulator.token.endsWith("x") ? "y" : "x"}`
    await main.getByLabel("NIP").fill(simulator.nip)
    await main.getByRole("textbox", { name: "KSeF token" }).fill(wrong)
    await page.getByRole("button", { name: "Store the credential" }).click()
    await main.getByText("The credential has not been checked yet.").waitFor()
    const key = await owner.createKey("live")
    const first = await owner.submit(key, "first", { xml: fa3({ number: "FV/1", seller: simulator.nip }) })
    await main.getByText("KSeF refuses the credential.").waitFor()
    await main.getByText(/^KSeF refuses the login: invalid token/).waitFor()
    const facts = await main.innerText()
    for (const fact of ["KSeF token", simulator.nip, simulator.url, "Refused", "Live invoices without a decision"])
      assert.include(facts, fact)
    // The count is read again within seconds.
    await until(
      () => main.innerText(),
      (text) => /Waiting here\s+1\s+oldest/.test(text)
    )

    await page.getByRole("button", { name: "Replace the credential" }).click()
    await main.getByText("The new credential replaces the old one at once.").waitFor()
    await main.getByLabel("NIP").last().fill(simulator.nip)
    const { certificate, privateKey } = simulator.certificate
    await main.getByLabel("Files").setInputFiles(
      Object.entries({ "auth.crt": certificate, "auth.key": privateKey }).map(([name, text]) => ({
        name,
        mimeType: "application/octet-stream",
        buffer: Buffer.from(text)
      }))
    )
    await until(
      () => main.getByLabel("Private key (PEM)").inputValue(),
      (text) => text.includes(privateKey.trim())
    )
    await page.getByRole("button", { name: "Store the credential" }).click()
    await main.getByText("KSeF accepts the credential.").waitFor()
    await invoiceWith(owner, first, ({ upo_available }) => upo_available === true)
    const limits = main.getByRole("table", { name: "Limits of KSeF, last hour" })
    await limits.getByRole("row", { name: /invoiceSend\s+1\s+180/ }).waitFor()
    for (const secret of [wrong.slice(-40), simulator.certificate.privateKey.split("\n")[1]!])
      assert.notInclude(await page.content(), secret)

    await cancelThenConfirm(page, "Remove the credential", "Remove the credential", "Sprzedawca Testowy")
    await main.getByText("No credential for KSeF is stored yet.").waitFor()
    await end()
  })

  it("stores a credential of a unit of the taxpayer, and offers an entity of the EU to certificates alone", async () => {
    const owner = await Owner.make(server)
    const { context, end } = await watch(browser, server.url, { expected: /status of 422 .*\/gateway-credential/ })
    const page = await context.newPage()
    const main = page.getByRole("main")
    const chosen = main.getByLabel("Login context")
    const unit = unitOf(simulator.nip)
    await owner.open(page, "/live")
    assert.strictEqual(await chosen.inputValue(), "Nip")
    await chosen.selectOption("NIP and EU VAT number")
    await main.getByLabel("NIP and EU VAT number").fill(`${simulator.nip}-de 12345`)
    await main.getByRole("radio", { name: "KSeF token" }).check()
    assert.deepStrictEqual(await chosen.locator("option").allTextContents(), ["NIP", "Internal identifier"])
    await chosen.selectOption("Internal identifier")
    const value = main.getByLabel("Internal identifier")
    await main.getByRole("textbox", { name: "KSeF token" }).fill(simulator.issueToken({ context: unit }))
    await value.fill(simulator.nip)
    await page.getByRole("button", { name: "Store the credential" }).click()
    await main.getByText("An internal identifier is a NIP, a hyphen and five digits. This one is wrong.").waitFor()
    await value.fill(`${unit.slice(0, -1)}${(Number(unit.at(-1)) + 1) % 10}`)
    await page.getByRole("button", { name: "Store the credential" }).click()
    await main.getByText("The check digits are wrong, or the token was issued for another context.").waitFor()
    await value.fill(unit)
    await page.getByRole("button", { name: "Store the credential" }).click()
    await main.getByText("KSeF accepts the credential.").waitFor()
    assert.include(await main.innerText(), `Internal identifier ${unit}`)
    await end()
  })

  it("stores, replaces and removes the certificate for issuing offline, and shows both codes of such an invoice", async () => {
    const owner = await Owner.make(server)
    await owner.call("PUT", "organizations/{org}/gateway-credential", {
      type: "ksef_token",
      token: simulator.token,
      context: { type: "Nip", value: simulator.nip }
    })
    const { context, end } = await watch(browser, server.url, {
      expected: /status of 422 .*\/offline-certificate/
    })
    const page = await context.newPage()
    const main = page.getByRole("main")
    await owner.open(page, "/live")
    await main.getByText("No certificate is stored, so live invoices cannot be issued offline.").waitFor()
    const store = async ({
      certificate,
      privateKey
    }: {
      readonly certificate: string
      readonly privateKey: string
    }) => {
      await main.getByLabel("Certificate of type Offline (PEM)").fill(certificate)
      await main.getByLabel("Private key of this certificate (PEM)").fill(privateKey)
      await page.getByRole("button", { name: "Store the certificate" }).click()
    }
    await page.getByRole("button", { name: "Store a certificate" }).click()
    await store(simulator.certificate)
    await main.getByText("Request a KSeF certificate of the type Offline.").waitFor()
    const offline = simulator.issueCertificate({ nip: simulator.nip, kind: "offline" })
    await store(offline)
    await main.getByText(new X509Certificate(offline.certificate).serialNumber).waitFor()
    assert.notInclude(await page.content(), offline.privateKey.split("\n")[1]!)

    const key = await owner.createKey("live")
    const xml = fa3({ number: "FV/offline", seller: simulator.nip })
    const id = await owner.submit(key, "offline", { xml, mode: "offline" })
    await invoiceWith(owner, id, ({ upo_available }) => upo_available === true)
    await owner.show(page, `/invoices/${id}`)
    await main.getByRole("img", { name: "QR code of the certificate link" }).waitFor()
    const facts = await main.innerText()
    for (const fact of ["Send by", "Mode in KSeF", `/certificate/Nip/${simulator.nip}/`]) assert.include(facts, fact)

    await owner.show(page, "/live")
    await cancelThenConfirm(page, "Remove the certificate", "Remove the certificate", "Sprzedawca Testowy")
    await main.getByText("No certificate is stored, so live invoices cannot be issued offline.").waitFor()
    await end()
  })

  it("reads the certificate for issuing offline from a file in PKCS#12, and names a wrong password", async () => {
    const owner = await Owner.make(server)
    await owner.call("PUT", "organizations/{org}/gateway-credential", {
      type: "ksef_token",
      token: simulator.token,
      context: { type: "Nip", value: simulator.nip }
    })
    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    const main = page.getByRole("main")
    await owner.open(page, "/live")
    await page.getByRole("button", { name: "Store a certificate" }).click()
    await main
      .getByLabel("Files")
      .setInputFiles({ name: "offline.p12", mimeType: "application/x-pkcs12", buffer: pkcs12 })
    const password = main.getByLabel("Password of offline.p12")
    const store = page.getByRole("button", { name: "Store the certificate" })
    await password.fill("wrong")
    await store.click()
    await main.getByText("The password of this file is wrong.").waitFor()
    await password.fill("zażółć")
    await store.click()
    await main.getByText("Serial number").waitFor()
    const stored = await owner.call("GET", "organizations/{org}/offline-certificate")
    assert.strictEqual(stored["present"], true)
    assert.include(await main.innerText(), String(stored["serial_number"]))
    await end()
  })

  it("shows what KSeF takes and the seller should look at, with the place in the document", async () => {
    const owner = await Owner.make(server)
    await owner.call("PUT", "organizations/{org}/gateway-credential", {
      type: "ksef_token",
      token: simulator.token,
      context: { type: "Nip", value: simulator.nip }
    })
    simulator.faults.add({ do: "system-warning", on: "sendInvoice", code: "W1", message: "FA (3) ends soon." })
    const xml = fa3({ number: "FV/W", seller: simulator.nip }).replace("<P_15>123.00", "<P_15>124.00")
    const id = await owner.submit(await owner.createKey("live"), "warned", { xml })
    await invoiceWith(owner, id, ({ status }) => status === "accepted")

    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    await owner.open(page, `/invoices/${id}`)
    const list = page.getByRole("listitem")
    const ofDocument = await list.filter({ hasText: "total_differs" }).innerText()
    assert.match(ofDocument, /the amount due is 124\.00, .* \(Broszura .*\)\. line 2, column \d+ total_differs$/)
    assert.strictEqual(
      await list.filter({ hasText: "system_warning" }).innerText(),
      "[W1] FA (3) ends soon. system_warning"
    )
    await end()
  })

  it("marks what KSeF refuses at its line of the document", async () => {
    // The server leaves the judgment to KSeF.
    const unchecked = await server.startBeside({
      GOVOICE_LIVE_MODE: "true",
      GOVOICE_KSEF_URL: simulator.url,
      GOVOICE_DOCUMENT_CHECKS: "well-formed"
    })
    const owner = await Owner.make(unchecked)
    await owner.call("PUT", "organizations/{org}/gateway-credential", {
      type: "ksef_token",
      token: simulator.token,
      context: { type: "Nip", value: simulator.nip }
    })
    const xml = fa3({ number: "FV/M", seller: simulator.nip })
      .replaceAll("><", ">\n<")
      .replace("<P_15>123.00", "<P_15>no")
    const id = await owner.submit(await owner.createKey("live"), "marked", { xml })
    await invoiceWith(owner, id, ({ status }) => status === "rejected")
    const line = xml.slice(0, xml.indexOf("<P_15>")).split("\n").length

    const { context, end } = await watch(browser, unchecked.url)
    const page = await context.newPage()
    await owner.open(page, `/invoices/${id}/xml`)
    const mark = page.locator("[data-mark=bad]")
    await mark.first().waitFor()
    assert.match(
      (await mark.first().innerText()).replaceAll(/\s+/g, " "),
      new RegExp(`^${line} <P_15>no</P_15> Fault: .*P_15`)
    )
    await page.evaluate("scrollTo(0, 0)")
    await page
      .getByRole("button", { name: `Line ${line}`, exact: true })
      .first()
      .click()
    await page.locator("[data-mark=bad]:focus").filter({ hasText: "<P_15>" }).waitFor()
    await end()
  })

  it("shows the number, the rejection, and the QR code to print", async () => {
    const owner = await Owner.make(server)
    await owner.call("PUT", "organizations/{org}/gateway-credential", {
      type: "ksef_token",
      token: simulator.token,
      context: { type: "Nip", value: simulator.nip }
    })
    const key = await owner.createKey("live")
    const xml = fa3({ number: "FV/2", seller: simulator.nip })
    const accepted = await owner.submit(key, "accepted", { xml })
    const again = await owner.submit(key, "duplicate", { xml })
    const { official_number: number } = await invoiceWith(
      owner,
      accepted,
      ({ upo_available }) => upo_available === true
    )
    await invoiceWith(owner, again, ({ status }) => status === "rejected")

    const { context, end } = await watch(browser, server.url)
    const page = await context.newPage()
    const main = page.getByRole("main")
    await owner.open(page, `/invoices/${accepted}`)
    await main.getByRole("heading", { level: 1, name: "FV/2" }).waitFor()
    await main.getByText(String(number), { exact: true }).first().waitFor()
    await main.getByRole("listitem").filter({ hasText: "UPO" }).locator("time").waitFor()
    // The simulator has pages of its own behind the codes.
    await main.getByText(`${new URL(simulator.url).origin}/invoice/${simulator.nip}/`).waitFor()
    await owner.show(page, `/invoices/${again}`)
    await main.getByText("duplicate_invoice").waitFor()
    await owner.show(page)
    await main.getByText("Something needs your attention.").waitFor()
    await end()

    // The sandbox makes links of the test environment.
    const sandboxed = await owner.submit(await owner.createKey(), "sandboxed", { xml })
    const other = await watch(browser, server.url)
    const shown = await other.context.newPage()
    await owner.open(shown, `/invoices/${sandboxed}`)
    const hash = createHash("sha256").update(xml).digest("base64url")
    const link = await shown.getByRole("main").getByText("https://qr-test.ksef.mf.gov.pl/invoice/").innerText()
    assert.include(link, `/${simulator.nip}/`)
    assert.isTrue(link.endsWith(`/${hash}`), link)
    const { data } = encode(link, { ecc: "M", border: 4 })
    const modules = data.flat().filter(Boolean).length
    const path = await shown
      .getByRole("img", { name: "QR code of the verification link" })
      .locator("path")
      .getAttribute("d")
    assert.strictEqual(path?.match(/M/g)?.length, modules)
    await other.end()
  })
})
