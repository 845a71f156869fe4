/**
 * Finds the elements that libxml2 names by their positions: their names, their neighbors, and where they begin.
 *
 * @since 0.1.0
 */
import * as StrictXml from "../xml/StrictXml.ts"

/**
 * An element of the document.
 *
 * @category models
 * @since 0.1.0
 */
export interface LocatedElement {
  /** The names from the root on. */
  readonly names: ReadonlyArray<string>
  /** The names, cut after 60 characters, with a number behind each name that its parent contains more than once. */
  readonly path: string
  readonly namespace: string
  /** Where its tag begins in the text. */
  readonly index: number
  /** The names of the elements before it in its parent. */
  readonly before: ReadonlyArray<string>
  /** The names of the elements after it in its parent. */
  readonly after: ReadonlyArray<string>
}

/**
 * Locates elements of a well-formed document by XPaths that have a step for each element: `*[4]` or `p:Fa[2]`. It takes one
 * pass. A path that matches nothing is absent from the result.
 *
 * @category getters
 * @since 0.1.0
 */
export const locate = (xml: string, xpaths: ReadonlyArray<string>): ReadonlyMap<string, LocatedElement> => {
  const wanted = xpaths.map((xpath) => ({ xpath, steps: parse(xpath) }))
  const found = new Map<string, { readonly frame: Frame; readonly index: number }>()
  const document: Frame = {
    name: "",
    namespace: "",
    key: "",
    position: 0,
    occurrence: 0,
    children: [],
    counts: new Map()
  }
  const open = [document]
  // Numbers instead of namespaces, so that a long one is hashed once and not with every element.
  const namespaces = new Map<string, number>()
  const keyOf = (namespace: string, name: string): string => {
    const number = namespaces.get(namespace) ?? namespaces.size
    namespaces.set(namespace, number)
    return `${number} ${name}`
  }
  StrictXml.read(xml, {
    open: ({ index, name, namespace }) => {
      const parent = open.at(-1)!
      const key = keyOf(namespace, name)
      const occurrence = (parent.counts.get(key) ?? 0) + 1
      parent.counts.set(key, occurrence)
      parent.children.push(name)
      const position = parent.children.length
      open.push({ name, namespace, key, position, occurrence, children: [], counts: new Map(), parent })
      for (const { steps, xpath } of wanted) {
        if (steps.length === open.length - 1 && !found.has(xpath) && steps.every(isAt(open))) {
          found.set(xpath, { frame: open.at(-1)!, index: index() })
        }
      }
    },
    text: () => undefined,
    close: () => {
      open.pop()
    }
  })
  return new Map(Array.from(found, ([xpath, { frame, index }]) => [xpath, toLocated(frame, index)]))
}

interface Frame {
  readonly name: string
  readonly namespace: string
  /** Equal for equal expanded names. */
  readonly key: string
  /** Among all elements of the parent, from 1. */
  readonly position: number
  /** Among those of the same name. */
  readonly occurrence: number
  readonly children: Array<string>
  readonly counts: Map<string, number>
  readonly parent?: Frame
}

/** `*[4]` counts all elements, `Fa[2]` those of the name. Without a number there is one only. */
interface Step {
  readonly name: string
  readonly number: number
}

const parse = (xpath: string): ReadonlyArray<Step> =>
  xpath
    .split("/")
    .slice(1)
    .map((step) => {
      const [, name = "", number = "1"] = /^(?:[^:[\]]+:)?([^[\]]+)(?:\[(\d+)\])?$/.exec(step) ?? []
      return { name, number: Number(number) }
    })

const isAt =
  (open: ReadonlyArray<Frame>) =>
  ({ name, number }: Step, index: number): boolean => {
    const frame = open[index + 1]!
    return name === "*" ? frame.position === number : frame.name === name && frame.occurrence === number
  }

const toLocated = (frame: Frame, index: number): LocatedElement => {
  const frames: Array<Frame> = []
  for (let each = frame; each.parent !== undefined; each = each.parent) frames.unshift(each)
  const siblings = frame.parent?.children ?? []
  return {
    names: frames.map(({ name }) => name),
    path: frames.map(numbered).join("/"),
    namespace: frame.namespace,
    index,
    before: siblings.slice(0, frame.position - 1),
    after: siblings.slice(frame.position)
  }
}

const numbered = ({ key, name, occurrence, parent }: Frame): string =>
  (parent?.counts.get(key) ?? 1) > 1 ? `${shortName(name)}[${occurrence}]` : shortName(name)

/**
 * Cuts a name that is longer than any of a form.
 *
 * @category formatting
 * @since 0.1.0
 */
export const shortName = (name: string): string => (name.length > 60 ? `${name.slice(0, 60).toWellFormed()}…` : name)
