/** A deployment with its own database and receiver for each test. */
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest"
import { startPostgres } from "../support/postgres.ts"
import { Deployment } from "./deployment.ts"
import { type Receiver, startReceiver } from "./receiver.ts"

export interface Faults {
  readonly postgres: Awaited<ReturnType<typeof startPostgres>>
  readonly receiver: Receiver
  readonly deployment: Deployment
}

/** Registers the hooks of a suite. The members of the result belong to the running test. */
export const setUp = (): Faults => {
  let postgres: Faults["postgres"]
  let receiver: Receiver
  let deployment: Deployment
  let databases = 0

  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.remove())

  beforeEach(async () => {
    databases += 1
    const url = new URL(postgres.url)
    const admin = new Deployment(url.href)
    await admin.pool.query(`CREATE DATABASE faults_${databases}`)
    await admin.close()
    url.pathname = `/faults_${databases}`
    deployment = new Deployment(url.href)
    receiver = await startReceiver()
  })
  afterEach(async () => {
    await deployment.close()
    await receiver.close()
  })

  return {
    get postgres() {
      return postgres
    },
    get receiver() {
      return receiver
    },
    get deployment() {
      return deployment
    }
  }
}

let paths = 0

/** Creates an organization with one endpoint for each behavior. */
export const makeOrganization = async (
  { deployment, receiver }: Faults,
  behaviours: ReadonlyArray<string>,
  eventTypes?: ReadonlyArray<string>
) => {
  const urls = behaviours.map((behaviour) => `/${behaviour}?${(paths += 1)}`)
  const made = await deployment.organization(
    urls.map((path) => receiver.url(path)),
    eventTypes
  )
  made.endpoints.forEach(({ secret }, index) => receiver.learn(urls[index]!, secret))
  return { ...made, paths: urls }
}

/** How many events were received more than once on the paths that always succeed. */
export const duplicates = ({ receiver }: Faults): number => {
  const ok = receiver.receipts.filter(({ path }) => /^\/(?:ok|slow)/.test(path))
  return ok.length - new Set(ok.map(({ eventId, path }) => `${path} ${eventId}`)).size
}
