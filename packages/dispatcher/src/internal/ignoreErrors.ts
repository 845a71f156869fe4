/** Runs code of the caller. Its errors and rejections must not end an attempt. */
export const ignoreErrors = (run: () => unknown): void => {
  try {
    const result = run()
    if (result instanceof Promise) result.catch(() => {})
  } catch {
    // The documentation of each hook says that errors are ignored.
  }
}
