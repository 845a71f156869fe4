/**
 * The reference for the API: Fastify and pg with the same three inserts in one transaction and the same lookup. It has no
 * API keys, rate limits, document checks or events, and no idempotency but the unique index.
 */
import { randomUUID } from "node:crypto"
import Fastify from "fastify"
import { Pool } from "pg"

const pool = new Pool({ connectionString: process.env["DATABASE_URL"], max: 20 })
const app = Fastify({ bodyLimit: 4 * 1024 * 1024 })

await pool.query(`
  CREATE TABLE plain_invoices (id text PRIMARY KEY, organization_id text NOT NULL, created_at timestamptz NOT NULL, metadata json NOT NULL);
  CREATE TABLE plain_documents (invoice_id text PRIMARY KEY REFERENCES plain_invoices (id), xml text NOT NULL);
  CREATE TABLE plain_keys (organization_id text, key text, invoice_id text NOT NULL, body text NOT NULL, PRIMARY KEY (organization_id, key));
`)

app.post("/v1/invoices", async (request, reply) => {
  const { invoice_xml, metadata = {} } = request.body as { readonly invoice_xml: string; readonly metadata?: object }
  const id = randomUUID()
  const created = new Date()
  const body = { id, object: "invoice", status: "queued", metadata, created_at: created.toISOString() }
  const client = await pool.connect()
  try {
    await client.query("BEGIN")
    await client.query({
      name: "key",
      text: "INSERT INTO plain_keys (organization_id, key, invoice_id, body) VALUES ($1, $2, $3, $4)",
      values: ["org", request.headers["idempotency-key"], id, JSON.stringify(body)]
    })
    await client.query({
      name: "invoice",
      text: "INSERT INTO plain_invoices (id, organization_id, created_at, metadata) VALUES ($1, $2, $3, $4)",
      values: [id, "org", created, JSON.stringify(metadata)]
    })
    await client.query({
      name: "document",
      text: "INSERT INTO plain_documents (invoice_id, xml) VALUES ($1, $2)",
      values: [id, invoice_xml]
    })
    await client.query("COMMIT")
  } catch (error) {
    await client.query("ROLLBACK")
    throw error
  } finally {
    client.release()
  }
  return reply.code(201).header("location", `/v1/invoices/${id}`).send(body)
})

app.get("/v1/invoices/:id", async (request, reply) => {
  const { rows } = await pool.query({
    name: "get",
    text: "SELECT id, created_at, metadata FROM plain_invoices WHERE organization_id = $1 AND id = $2",
    values: ["org", (request.params as { readonly id: string }).id]
  })
  return rows[0] ?? reply.code(404).send({ error: "not found" })
})

const url = await app.listen({ port: 0, host: "127.0.0.1" })
process.send?.(url)
process.once("disconnect", () => process.exit(0))
