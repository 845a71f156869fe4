/**
 * Methods from functions.
 *
 * @module
 */

/** Returns the function with its first argument bound. */
export const bind =
  <C, A extends ReadonlyArray<unknown>, B>(connection: C, operation: (connection: C, ...rest: A) => B) =>
  (...rest: A): B =>
    operation(connection, ...rest)
