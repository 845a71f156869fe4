/** Whether the long tests run in the short form of `.ci/run`. */
export const isShort = process.env["LENGTH"] === "short"

/** The cases of a long test: with `LENGTH=short` only those for which `isRepresentative` holds. */
export const casesOf = <Case>(
  cases: ReadonlyArray<Case>,
  isRepresentative: (one: Case, index: number) => boolean
): ReadonlyArray<Case> => (isShort ? cases.filter(isRepresentative) : cases)
