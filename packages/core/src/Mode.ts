/**
 * The two worlds that never meet: the sandbox and the national system.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * `test` runs the sandbox and reaches no real system; `live` is meant for real submission.
 *
 * @category models
 * @since 0.1.0
 */
export const Mode = Schema.Literals(["test", "live"])

/**
 * Type of a decoded `Mode`.
 *
 * @category models
 * @since 0.1.0
 */
export type Mode = typeof Mode.Type
