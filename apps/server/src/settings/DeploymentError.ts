import { Data } from "effect"

/**
 * A fault of the deployment that its operator can correct.
 *
 * `message` is one line: what was found, and what to do. It contains no secret.
 */
export class DeploymentError extends Data.TaggedError("DeploymentError")<{ readonly message: string }> {}
