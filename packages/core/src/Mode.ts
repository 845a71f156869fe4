/**
 * The mode of an API key and of everything that is made with it.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * `test` uses the sandbox and connects to no national system; `live` submits to the national system.
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
