/** The reads of an owner: every list with each filter, every record, and the state of an endpoint. */

/** The records of an organization that its owner reads. */
export interface Owned {
  readonly of: string
  readonly key: string
  readonly endpoint: string
}

/** A record that was submitted just now. */
export interface Submitted {
  readonly invoice: string
  readonly idempotencyKey: string
}

/** A record of a list. */
export interface Listed {
  readonly id: string
  readonly event_id?: string
}

/** Sends a request with the session of the owner, or with a key. */
export type Get = (
  path: string,
  token?: string
) => Promise<{ readonly data?: ReadonlyArray<Listed>; readonly next_cursor?: string | null } | undefined>

const statuses = ["pending", "delivering", "succeeded", "retrying", "failed", "endpoint_disabled"]

/** Makes every read once, for one organization. `recent` is an invoice of it that has its receipt. */
export const readAll = async (get: Get, { endpoint, key, of }: Owned, recent: Submitted): Promise<void> => {
  const hourAgo = new Date(Date.now() - 3_600_000).toISOString()
  const now = new Date().toISOString()
  const ofEndpoint = `control-plane/webhook-endpoints/${endpoint}`
  const listed = await get(`${ofEndpoint}/deliveries?limit=50`)
  const delivery = listed!.data!.at(-1)!
  const paged = async (path: string, token?: string) => {
    const page = await get(`${path}?limit=50`, token)
    if (typeof page?.next_cursor === "string") await get(`${path}?limit=50&cursor=${page.next_cursor}`, token)
  }

  for (const deliveries of [`${of}/deliveries`, `${ofEndpoint}/deliveries`]) {
    await paged(deliveries)
    for (const status of statuses) await get(`${deliveries}?status=${status}`)
    await get(`${deliveries}?event_type=invoice.accepted`)
    await get(`${deliveries}?event_type=invoice.upo_available&status=failed`)
    await get(`${deliveries}?event_id=${delivery.event_id}`)
    await get(`${deliveries}?invoice_id=${recent.invoice}`)
    await get(`${deliveries}?created_after=${hourAgo}&created_before=${now}`)
  }
  await get(`${ofEndpoint}/deliveries/${delivery.id}`)
  await get(ofEndpoint)
  await get(`${ofEndpoint}/delivery-stats`)

  await paged(`${of}/invoices`)
  for (const status of ["accepted", "queued", "retrying", "rejected", "failed"])
    await get(`${of}/invoices?status=${status}`)
  await get(`${of}/invoices?mode=test`)
  await get(`${of}/invoices?event_id=${delivery.event_id}`)
  await get(`${of}/invoices?mode=test&idempotency_key=${recent.idempotencyKey}`)
  await get(`${of}/invoices?created_after=${hourAgo}&created_before=${now}`)
  await get(`${of}/invoices/${recent.invoice}`)
  await get(`${of}/invoices/${recent.invoice}/upo`)
  await get(`${of}/overview`)
  await get(`${of}/live-status`)
  await get(of)
  await get(`${of}/webhook-endpoints`)
  await get(`${of}/api-keys`)
  await get("control-plane/organizations")
  await get("control-plane/account")

  await paged("invoices", key)
  await get("invoices?status=accepted", key)
  await get("invoices?status=rejected", key)
  await get("invoices?metadata[order]=4711", key)
  await get(`invoices?created_after=${hourAgo}`, key)
  await get(`invoices/${recent.invoice}/upo`, key)
  await get("me", key)
}
