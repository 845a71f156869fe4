import type { InvoiceReading } from "@govoice/ksef/reading"
import { useMemo, useState } from "react"
import { Button } from "../../../ui/Button.tsx"
import { amount } from "../../../ui/numbers.ts"
import { classNames } from "../../../ui/classNames.ts"
import panelStyles from "../../../ui/Panel.module.css"
import { beginningOf } from "./beginning.ts"
import styles from "./Document.module.css"
import { ReadingTable } from "./ReadingTable.tsx"
import { textOf, valueOf, words, Words } from "./words.tsx"

const css = classNames(styles)
const panel = classNames(panelStyles)

const FactList = ({ facts }: { readonly facts: ReadonlyArray<InvoiceReading.Fact> }) =>
  facts.length === 0 ? null : (
    <dl className={panel("facts")}>
      {facts.map((fact, index) => (
        <Fact key={index} fact={fact} />
      ))}
    </dl>
  )

const Fact = ({ fact }: { readonly fact: InvoiceReading.Fact }) => (
  <>
    <dt>
      <Words label={fact.label} />
    </dt>
    <dd>{valueOf(fact)}</dd>
  </>
)

const Party = ({ party: { address, facts, label, name } }: { readonly party: InvoiceReading.Party }) => (
  <section className={css("party")}>
    <h3>
      <Words label={label} />
    </h3>
    {name !== undefined && <p className="strong">{name}</p>}
    {address.map((line, index) => (
      <p key={index}>{line}</p>
    ))}
    <FactList facts={facts} />
  </section>
)

/** What belongs to a group, without its heading. */
const Content = ({ group }: { readonly group: InvoiceReading.Group }) => {
  const name = textOf(group.label)
  return (
    <>
      {group.paragraphs.map((paragraph, index) => (
        <p key={index} className={css("paragraph")}>
          {paragraph}
        </p>
      ))}
      <FactList facts={group.facts} />
      {group.tables.map((table, index) => (
        <ReadingTable key={index} caption={name} table={table} />
      ))}
      {group.groups.length > 0 && (
        <div className={css("groups")}>
          {group.groups.map((inner, index) => (
            <section key={index} className={css("group", inner.tables.length + inner.groups.length > 0 && "wide")}>
              <h4>
                <Words label={inner.label} />
              </h4>
              <Content group={inner} />
            </section>
          ))}
        </div>
      )}
    </>
  )
}

/** The document as a person reads it: its beginning, and all of it on request. */
export const Reading = ({ reading: whole }: { readonly reading: InvoiceReading.Reading }) => {
  const beginning = useMemo(() => beginningOf(whole), [whole])
  const [isAsked, setAsked] = useState(false)
  const { currency, details, form, kind, number, parties, sections, total } = isAsked ? whole : beginning.reading
  return (
    <div className={css("document")}>
      <header className={css("title")}>
        <div>
          <p className="muted small">{kind === undefined ? form : <Words label={kind.meaning ?? kind.label} />}</p>
          <p className={css("number")}>{number}</p>
        </div>
        {total !== undefined && <p className={css("number", "total")}>{amount(total, currency ?? null)}</p>}
      </header>
      <section aria-label={words.ends(number ?? form)}>
        <FactList facts={details} />
      </section>
      <div className={css("parties")}>
        {parties.map((party, index) => (
          <Party key={index} party={party} />
        ))}
      </div>
      {sections.map((section) => (
        <section key={section.id} className={css("section")}>
          <h3>
            <Words label={section.label} />
          </h3>
          <Content group={section} />
        </section>
      ))}
      {!beginning.isWhole && !isAsked && (
        <p>
          {words.isLong} <Button onClick={() => setAsked(true)}>{words.showAll}</Button>
        </p>
      )}
    </div>
  )
}
