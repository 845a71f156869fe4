/**
 * Hooks of support modules that run after each test. Files that share a process share its support modules, too, which are
 * evaluated once: an `afterEach` of such a module would belong to the first of these files alone. `hooks.ts` registers one for
 * each file.
 */
const hooks = new Set<() => unknown>()

/** Registers a hook that runs after each test of every file in the process, after the hooks of the file. */
export const afterTest = (hook: () => unknown): void => void hooks.add(hook)

/** Runs all hooks, and fails with the first error. */
export const runHooks = async (): Promise<void> => {
  const errors: Array<unknown> = []
  for (const hook of hooks) {
    try {
      await hook()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}
