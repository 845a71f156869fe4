/**
 * Makes methods of functions.
 *
 * @module
 */

/** The function without its first parameter. */
export const bind =
  <C, A extends ReadonlyArray<unknown>, B>(connection: C, operation: (connection: C, ...rest: A) => B) =>
  (...rest: A): B =>
    operation(connection, ...rest)
