import { Data } from "effect"

/** A command that failed. Its message is printed as it is: the cause, and what to do. The process exits with 1. */
export class CommandFailure extends Data.TaggedError("CommandFailure")<{
  readonly message: string
  /** The process that uses the embedded database, if that is the cause. */
  readonly holder?: string
}> {}
