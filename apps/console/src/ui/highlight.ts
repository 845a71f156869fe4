/**
 * The parts of a snippet that have a color: strings, comments and keywords of the languages on offer.
 */
export type CodeKind = "comment" | "string" | "keyword" | undefined

// A comment begins a line or follows a space, so that the `//` of a URL is none.
const parts =
  /(?<comment>(?<=^|\s)(?:\/\/|#).*$)|(?<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)|(?<keyword>\b(?:import|from|export|default|const|await|new|if|else|return|void|class|def|for|in|is|not|and|or|try|except|raise|None)\b)/gm

/** Splits code into its parts, in their order. */
export const highlight = (code: string): ReadonlyArray<readonly [kind: CodeKind, text: string]> => {
  const found: Array<readonly [CodeKind, string]> = []
  let end = 0
  for (const match of code.matchAll(parts)) {
    if (match.index > end) found.push([undefined, code.slice(end, match.index)])
    const kind = (["comment", "string", "keyword"] as const).find((name) => match.groups![name] !== undefined)
    found.push([kind, match[0]])
    end = match.index + match[0].length
  }
  return end < code.length ? [...found, [undefined, code.slice(end)]] : found
}
