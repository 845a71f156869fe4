/** What the directory of two cells says, and requests through the proxy in front of them. */
import { sleep } from "../faults/deployment.ts"
import type { Cell, Cells } from "./cells.ts"

/** The cell of an organization, as the directory has it. */
export const cellOf = async ({ a, b }: Cells, organization: string): Promise<Cell> => {
  const { rows } = await a.deployment.pool.query<{ cell: string }>("SELECT cell FROM cell_buckets WHERE bucket = $1", [
    organization.slice(14, 16)
  ])
  return rows[0]!.cell === "a" ? a : b
}

/** The other cell. */
export const otherOf = ({ a, b }: Cells, cell: Cell): Cell => (cell === a ? b : a)

/** Submits once, and returns the status and the id of the invoice. */
export const submitOnce = async (
  { a }: Cells,
  token: string,
  key: string,
  scenario: string,
  invoice_xml = "<Faktura/>"
): Promise<{ readonly status: number; readonly id: string | undefined }> => {
  const { body, status } = await a.deployment.call<{ id?: string }>("POST", "/v1/invoices", {
    token,
    body: { invoice_xml },
    headers: { "idempotency-key": key, "gov-sandbox-scenario": scenario }
  })
  return { status, id: status === 200 || status === 201 ? body.id : undefined }
}

/** Submits until it is acknowledged, as a client does that repeats what it is told to repeat. */
export const submit = async (...request: Parameters<typeof submitOnce>): Promise<string> => {
  for (;;) {
    const { id, status } = await submitOnce(...request).catch(() => ({ status: 503, id: undefined }))
    if (id !== undefined) return id
    if (status < 500 && status !== 421 && status !== 429) throw new Error(`A submission was refused: ${status}`)
    await sleep(50)
  }
}
