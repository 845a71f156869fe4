import { useEffect, useRef, useState } from "react"
import { Button } from "../../../ui/Button.tsx"
import { classNames } from "../../../ui/classNames.ts"
import { Icon } from "../../../ui/Icon.tsx"
import { number } from "../../../ui/numbers.ts"
import styles from "./Document.module.css"
import { type Mark, type Piece, toPages, toPieces } from "./marks.ts"
import { words } from "./words.tsx"

const css = classNames(styles)

/** Tags are muted, so that the values stand out. */
const Code = ({ text }: { readonly text: string }) => {
  const parts: Array<readonly [isTag: boolean, text: string]> = []
  let end = 0
  for (const match of text.matchAll(/<[^<>]*>/g)) {
    if (match.index > end) parts.push([false, text.slice(end, match.index)])
    parts.push([true, match[0]])
    end = match.index + match[0].length
  }
  if (end < text.length) parts.push([false, text.slice(end)])
  return (
    <code>
      {parts.map(([isTag, part], index) =>
        isTag ? (
          <span key={index} className="muted">
            {part}
          </span>
        ) : (
          part
        )
      )}
    </code>
  )
}

const nameOf = ({ tone }: Mark): string => (tone === "bad" ? words.fault : words.warning)

const Line = ({ piece: { line, marks, text } }: { readonly piece: Piece }) => {
  const tone = marks.some(({ tone }) => tone === "bad") ? "bad" : marks.length > 0 ? "warn" : undefined
  return (
    <li className={css("line", tone)} tabIndex={tone && -1} data-mark={tone}>
      <span className={css("at")} aria-hidden="true">
        {line}
      </span>
      <div className={css("text")}>
        <Code text={text} />
        {marks.map((mark, index) => (
          <p key={index} className={css("note", mark.tone)}>
            <Icon name="warning" />
            <span>
              {nameOf(mark)}: {mark.message}
            </span>
          </p>
        ))}
      </div>
    </li>
  )
}

/** The XML with its lines, and the faults and warnings at theirs. */
export const XmlSource = ({ marks, xml }: { readonly xml: string; readonly marks: ReadonlyArray<Mark> }) => {
  const pieces = toPieces(xml, marks)
  const pages = toPages(pieces)
  const pageOf = (piece: number): number => pages.findLastIndex((start) => start <= piece)
  const firstMarked = pieces.findIndex(({ marks }) => marks.length > 0)
  const [page, setPage] = useState(Math.max(0, pageOf(firstMarked)))
  const [sought, setSought] = useState<Mark>()
  const list = useRef<HTMLOListElement>(null)
  const start = pages[page] ?? 0
  const shown = pieces.slice(start, pages[page + 1])

  // After the page of the mark is shown.
  useEffect(() => {
    if (sought === undefined) return
    const index = shown.findIndex(({ marks }) => marks.includes(sought))
    const element = list.current?.children[index] as HTMLElement | undefined
    element?.scrollIntoView({ block: "center" })
    element?.focus({ preventScroll: true })
    setSought(undefined)
  })

  return (
    <div className="stack">
      {marks.length > 0 && (
        <div>
          <p className="muted small">{words.marks(marks.length)}</p>
          <ul className={css("marks")}>
            {marks.map((mark, index) => (
              <li key={index}>
                <Button
                  size="small"
                  onClick={() => {
                    const at = pieces.findIndex(({ marks }) => marks.includes(mark))
                    if (at === -1) return
                    setPage(pageOf(at))
                    setSought(mark)
                  }}
                >
                  {words.markAt(mark.line, mark.column)}
                </Button>{" "}
                <span className="small">
                  {nameOf(mark)}: {mark.message}
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
      <ol className={css("source")} aria-label={words.source} ref={list}>
        {shown.map((piece, index) => (
          <Line key={start + index} piece={piece} />
        ))}
      </ol>
      {pages.length > 1 && (
        <nav className="line" aria-label={words.pages}>
          <Button aria-disabled={page === 0} onClick={page === 0 ? undefined : () => setPage(page - 1)}>
            {words.before}
          </Button>
          <Button
            aria-disabled={page + 1 >= pages.length}
            onClick={page + 1 >= pages.length ? undefined : () => setPage(page + 1)}
          >
            {words.after}
          </Button>
          <span className="push small muted" role="status">
            {words.part(number(start + 1), number(start + shown.length), number(pieces.length))}
          </span>
        </nav>
      )}
    </div>
  )
}
