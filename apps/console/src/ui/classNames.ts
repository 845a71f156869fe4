/**
 * Class names of a CSS module.
 */
type Name = string | false | undefined

/** Returns a function that joins the given names of a module. False and undefined names are left out. */
export const classNames =
  (styles: Readonly<Record<string, string>>) =>
  (...names: ReadonlyArray<Name>): string =>
    names.flatMap((name) => (name ? (styles[name] ?? []) : [])).join(" ")
