/**
 * Runs files that wait (for servers, databases, browsers) beside files that compute. By default vitest runs one project after
 * the other: the processors are idle first and overloaded later.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** The part of the run in which the files of a project start. Files that wait take longest: none of them is the last. */
const parts: Readonly<Record<string, readonly [number, number]>> = {
  browser: [0, 0.7],
  integration: [0, 0.8],
  unit: [0, 1],
  // A shared process ends when the next file is of another project: each of these is in one piece.
  "integration-shared": [-1, 0],
  "unit-shared": [1, 2]
}

interface Project {
  readonly name: string
}

/** Mixes the files of the projects. The files of one project keep their order, and are spread over its part of the run. */
export const mixed = <File extends { readonly project: Project }>(files: ReadonlyArray<File>): Array<File> => {
  const ofProject = Map.groupBy(files, ({ project }) => project.name)
  return Array.from(ofProject)
    .flatMap(([name, members]) => {
      const [start, end] = parts[name] ?? [0, 1]
      return members.map((file, index) => ({ file, at: start + ((end - start) * index) / members.length }))
    })
    .sort((a, b) => a.at - b.at)
    .map(({ file }) => file)
}

/** Files that take longer than their size tells, the longest first. */
export const longerThanTheirSize = [
  "apps/server/test/invoices/live/ksef/LiveHours.long.test.ts",
  "test/faults/killLoop.long.test.ts",
  "apps/server/test/invoices/live/ksef/LiveVerdicts.long.test.ts",
  "test/faults/liveTwoWorkers.long.test.ts",
  "test/faults/liveKillPoints.long.test.ts",
  "test/browser/sessionTimes.long.test.ts",
  "apps/server/test/invoices/live/ksef/LiveOutage.long.test.ts",
  "test/faults/liveKillPointsBatch.long.test.ts",
  "test/faults/interruptions.long.test.ts",
  "apps/server/test/invoices/live/ksef/LiveFaults.long.test.ts",
  "test/e2e/apiStalledReaders.long.test.ts",
  "test/browser/states.browser.test.ts",
  "test/e2e/demoLive.long.test.ts",
  "test/e2e/apiEmbedded.long.test.ts",
  "test/e2e/api.integration.test.ts",
  "packages/client/test/Runtimes.test.ts",
  "apps/server/test/jobs/ThreadPool.test.ts",
  "test/e2e/atRest.integration.test.ts",
  "test/e2e/apiRestart.integration.test.ts",
  "test/e2e/quickStarts.integration.test.ts",
  "test/faults/liveKill.integration.test.ts"
]

const rankOf = (path: string): number => {
  const rank = longerThanTheirSize.findIndex((file) => path.endsWith(`/${file}`))
  return rank === -1 ? longerThanTheirSize.length : rank
}

/** Puts the files that take longer than their size tells before the others, which keep their order. */
export const longestFirst = <File extends { readonly moduleId: string }>(files: ReadonlyArray<File>): Array<File> =>
  files.toSorted((a, b) => rankOf(a.moduleId) - rankOf(b.moduleId))

export class MixedSequencer extends BaseSequencer {
  // The files of each project longest first, or largest first where no run has measured them.
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    return mixed(longestFirst(await super.sort(files)))
  }
}
