/**
 * The words for what was refused. The sentences of the API are for developers, and in one language.
 */
import { type Problem, problemOf } from "../session/problem.ts"
import { texts } from "../text/texts.ts"

/** Returns the sentence for a problem: by its code, or that of the API where the page has none. */
export const sentenceOf = ({ code, message }: Problem): string => texts.problems[code] ?? message

/** Splits the error of a form with fields of these names: each error stands once, at its field or above the form. */
export const fieldErrors = <N extends string>(error: unknown, fields: ReadonlyArray<N>) => {
  const problem = error === null ? undefined : problemOf(error)
  const field = fields.find((name) => name === problem?.param)
  return {
    /** The sentence for a field, if it is at fault. */
    of: (name: N): string | undefined =>
      name !== field ? undefined : (texts.problems[problem!.code] ?? texts.fieldProblems[name] ?? problem!.message),
    /** The error that belongs to no field. */
    rest: field === undefined ? error : null
  }
}
