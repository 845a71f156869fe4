/** A mistake of a new user, made on purpose, and the message that it is answered with. */

export interface Mistake {
  readonly title: string
  /** Makes the mistake, and returns what the user reads. */
  readonly see: () => Promise<string>
}

/** Makes a call that must fail, and returns its error as a terminal shows it: the name, the code if there is one, the message. */
export const errorOf = async (call: () => unknown): Promise<string> => {
  let result: unknown
  try {
    result = await call()
  } catch (error) {
    const { code, message, name } = error as Error & { readonly code?: string }
    return code === undefined || message.startsWith(code) ? `${name}: ${message}` : `${name} ${code}: ${message}`
  }
  throw new Error(`The mistake was answered with ${JSON.stringify(result)}`)
}

/** A mistake that is answered with an error. */
export const fails = (title: string, call: () => unknown): Mistake => ({ title, see: () => errorOf(call) })
