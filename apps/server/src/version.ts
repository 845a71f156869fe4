import manifest from "../package.json" with { type: "json" }

/**
 * The version of the server.
 *
 * @category constants
 * @since 0.1.0
 */
export const version: string = manifest.version
