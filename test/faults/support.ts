/** A deployment with a database and a receiver of its own for each test. */
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest"
import { startPostgres } from "../support/postgres.ts"
import { Deployment } from "./deployment.ts"
import { type Receiver, startReceiver } from "./receiver.ts"

export interface Faults {
  readonly postgres: Awaited<ReturnType<typeof startPostgres>>
  readonly receiver: Receiver
  readonly deployment: Deployment
}

/** Registers the hooks of a suite. The members of the result are those of the test that runs. */
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

/** An organization whose endpoints behave like this. */
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

/** How many requests with an event that had come before there were on paths that answer with success. */
export const duplicates = ({ receiver }: Faults): number => {
  const ok = receiver.receipts.filter(({ path }) => /^\/(?:ok|slow)/.test(path))
  return ok.length - new Set(ok.map(({ eventId, path }) => `${path} ${eventId}`)).size
}
