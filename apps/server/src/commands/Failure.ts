/**
 * Why a command could not do what it was asked to, in words for whoever asked.
 *
 * @since 0.1.0
 */
import { Data } from "effect"
import { CliError } from "effect/cli"

/**
 * A command that failed. `message` says why, and what to do. The process ends with 1.
 *
 * @category errors
 * @since 0.1.0
 */
export class Failure extends Data.TaggedError("Failure")<{
  readonly message: string
  /** Who holds the embedded database, when that is what stood in the way. */
  readonly holder?: string
}> {
  override get [CliError.userMessage](): string {
    return this.message
  }
}
