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

/** Opens a database of this name on the server, and a receiver. */
const openDatabase = async (postgres: Faults["postgres"], name: string) => {
  const url = new URL(postgres.url)
  const admin = new Deployment(url.href)
  await admin.pool.query(`CREATE DATABASE ${name}`)
  await admin.close()
  url.pathname = `/${name}`
  const deployment = new Deployment(url.href)
  const receiver = await startReceiver()
  const close = async () => {
    await deployment.close()
    await receiver.close()
  }
  return { deployment, receiver, close }
}

/** Registers the hooks of a suite. The members of the result belong to the running test. */
export const setUp = (): Faults => {
  let postgres: Faults["postgres"]
  let opened: Awaited<ReturnType<typeof openDatabase>>
  let databases = 0

  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.remove())

  beforeEach(async () => {
    opened = await openDatabase(postgres, `faults_${(databases += 1)}`)
  })
  afterEach(() => opened.close())

  return {
    get postgres() {
      return postgres
    },
    get receiver() {
      return opened.receiver
    },
    get deployment() {
      return opened.deployment
    }
  }
}

/** Registers the hooks of a suite of concurrent tests. Each runs with what the result passes to it. */
export const setUpConcurrent = () => {
  let postgres: Faults["postgres"]
  let databases = 0
  const open = new Set<() => Promise<void>>()

  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(async () => {
    // Those of tests that took too long.
    await Promise.all(Array.from(open, (close) => close()))
    await postgres.remove()
  })

  return async (test: (faults: Faults) => Promise<void>): Promise<void> => {
    const { close, ...opened } = await openDatabase(postgres, `faults_${(databases += 1)}`)
    open.add(close)
    try {
      await test({ postgres, ...opened })
    } finally {
      open.delete(close)
      await close()
    }
  }
}

let paths = 0

/** Creates an organization with one endpoint for each behavior. */
export const makeOrganization = async (
  { deployment, receiver }: Faults,
  behaviors: ReadonlyArray<string>,
  eventTypes?: ReadonlyArray<string>
) => {
  const urls = behaviors.map((behavior) => `/${behavior}?${(paths += 1)}`)
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
