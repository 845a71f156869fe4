/**
 * The names of elements and of the values of code lists, in Polish and English.
 *
 * @since 0.1.0
 */
import { english, englishValues } from "./english.ts"
import { polish, polishValues } from "./polish.ts"
import schemaLabels from "./schemaLabels.json" with { type: "json" }

/**
 * Words in both languages.
 *
 * @category models
 * @since 0.1.0
 */
export interface Label {
  readonly pl: string
  readonly en: string
}

/**
 * Returns the label of an element. Where the same name means different things, its parent decides. An element that no schema has is
 * called by its name.
 *
 * @category getters
 * @since 0.1.0
 */
export const of = (name: string, parent = ""): Label => {
  const path = `${parent}/${name}`
  return {
    pl: own(polish, path) ?? own(polish, name) ?? own(schemaLabels.elements, name) ?? name,
    en: own(english, path) ?? own(english, name) ?? name
  }
}

/**
 * Returns what a value of a code list means, or `undefined` where it has no meaning beside itself. Marks are yes and no.
 *
 * @category getters
 * @since 0.1.0
 */
export const ofValue = (name: string, value: string): Label | undefined => {
  const pl = own(own(polishValues, name) ?? {}, value) ?? own(own(schemaLabels.values, name) ?? {}, value)
  const en = own(own(englishValues, name) ?? {}, value)
  if (pl !== undefined && en !== undefined) return { pl, en }
  return typeOf(name) === "mark" ? own(marks, value) : undefined
}

/**
 * What the value of an element is: a number (an amount, a price, a rate, a quantity), a day, or a mark that says yes (1) or no (2).
 *
 * @category models
 * @since 0.1.0
 */
export type ValueType = "date" | "mark" | "number"

/**
 * Returns what the value of an element is, or `undefined` for text.
 *
 * @category getters
 * @since 0.1.0
 */
export const typeOf = (name: string, parent = ""): ValueType | undefined =>
  own(types, name) ?? own(types, `${parent}/${name}`)

const types = schemaLabels.types as Readonly<Record<string, ValueType>>

const marks: Readonly<Record<string, Label>> = { 1: { pl: "Tak", en: "Yes" }, 2: { pl: "Nie", en: "No" } }

// The names come from a stranger's document: `constructor` has no label.
const own = <A>(record: Readonly<Record<string, A>>, name: string): A | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined
