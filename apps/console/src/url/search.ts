/**
 * Codecs between the search part of an address and the state of a screen.
 *
 * Values at their default are left out of the address. A value that cannot be read is dropped, and its name is reported.
 */

/** One parameter: its default, and the reading of its text. `undefined` means that the text is not a value. */
interface Parameter<A> {
  readonly byDefault: A
  read(text: string): A | undefined
  write(value: A): string
}

type Parameters = Readonly<Record<string, Parameter<unknown>>>

type ValueOf<P> = P extends { readonly byDefault: infer A } ? A : never

/** The values of the parameters of a codec. */
export type SearchOf<C extends { read(search: string): { readonly value: unknown } }> = ReturnType<C["read"]>["value"]

interface Read<P> {
  readonly value: { readonly [K in keyof P]: ValueOf<P[K]> }
  /** The names of parameters that were dropped. */
  readonly dropped: ReadonlyArray<string>
}

export interface SearchCodec<P> {
  readonly read: (search: string) => Read<P>
  /** Returns the search part with its question mark, or an empty string. */
  readonly write: (value: { readonly [K in keyof P]: ValueOf<P[K]> }) => string
}

const text = (isValid: (text: string) => boolean): Parameter<string | undefined> => ({
  byDefault: undefined,
  read: (value) => (isValid(value) ? value : undefined),
  write: (value) => value ?? ""
})

/** Any text of 1 to `max` characters. */
export const anyText = (max: number): Parameter<string | undefined> =>
  text((value) => value.length > 0 && value.length <= max)

/** An identifier of this form. */
export const matching = (isValid: (text: string) => boolean): Parameter<string | undefined> => text(isValid)

/** One of these values, or undefined. */
export const oneOf = <const A extends string>(values: ReadonlyArray<A>): Parameter<A | undefined> => ({
  byDefault: undefined,
  read: (value) => values.find((known) => known === value),
  write: (value) => value ?? ""
})

/** One of these values. The first is the default. */
export const choice = <const A extends string>(values: readonly [A, ...ReadonlyArray<A>]): Parameter<A> => ({
  byDefault: values[0],
  read: (value) => values.find((known) => known === value),
  write: (value) => value
})

/** A time in UTC with minutes: `2026-11-21T00:00Z`. */
export const minute: Parameter<string | undefined> = text(
  (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\dZ$/.test(value) && !Number.isNaN(Date.parse(value))
)

/** Returns the codec of these parameters. */
export const searchCodec = <const P extends Parameters>(parameters: P): SearchCodec<P> => {
  const names = Object.keys(parameters)
  return {
    read: (search) => {
      const given = new URLSearchParams(search)
      const dropped = new Set<string>()
      for (const name of given.keys()) if (!names.includes(name)) dropped.add(name)
      const value = names.map((name) => {
        const parameter = parameters[name]!
        const found = given.get(name)
        if (found === null) return [name, parameter.byDefault]
        const parsed = parameter.read(found)
        if (parsed === undefined) dropped.add(name)
        return [name, parsed ?? parameter.byDefault]
      })
      return { value: Object.fromEntries(value) as Read<P>["value"], dropped: [...dropped] }
    },
    write: (value) => {
      const written = new URLSearchParams()
      for (const name of names) {
        const parameter = parameters[name]!
        const member = (value as Record<string, unknown>)[name]
        if (member !== parameter.byDefault && member !== undefined) written.set(name, parameter.write(member))
      }
      // Colons are allowed in a query: `from=2026-11-21T00:00Z` stays readable.
      const query = written.toString().replaceAll("%3A", ":").replaceAll("%2A", "*")
      return query === "" ? "" : `?${query}`
    }
  }
}
