/**
 * Parts of the filters above a list.
 */
import { useState } from "react"
import type { ReactNode } from "react"
import { Link } from "wouter"
import { texts } from "../../text/texts.ts"
import { Button } from "../../ui/Button.tsx"
import { classNames } from "../../ui/classNames.ts"
import { Dialog } from "../../ui/Dialog.tsx"
import { Field, SelectControl } from "../../ui/Field.tsx"
import { firstFilter, focusSoon, heading } from "../../ui/focus.ts"
import { Icon } from "../../ui/Icon.tsx"
import { Menu, MenuButton, MenuRule } from "../../ui/Menu.tsx"
import { ofField, shortTime, toField, zoneName } from "../../ui/times.ts"
import buttonStyles from "../../ui/Button.module.css"
import styles from "./Filters.module.css"

const css = classNames(styles)

/** The frame of all filters of a list. */
export const Filters = ({ children }: { readonly children: ReactNode }) => (
  <div className={css("filters")} data-filters="" role="group" aria-label={texts.filters.label} data-print="hidden">
    {children}
  </div>
)

/** One of several links, of which one is current. */
export const ChoiceLinks = ({
  choices,
  label
}: {
  readonly label: string
  readonly choices: ReadonlyArray<{
    readonly label: string
    readonly to: string
    readonly isCurrent: boolean
    /** The number of records behind the choice, and the words that tell what it counts. */
    readonly count?: readonly [number: string, meaning: string] | undefined
  }>
}) => (
  <div className={css("group")} role="group" aria-label={label}>
    {choices.map(({ count, isCurrent, label, to }) => (
      <Link key={to} to={to} className={css("choice")} aria-current={isCurrent ? "true" : undefined}>
        {label}
        {count !== undefined && (
          <>
            <span className={css("count")} aria-hidden="true" title={count[1]}>
              {count[0]}
            </span>
            <span className="visually-hidden"> {count[1]}</span>
          </>
        )}
      </Link>
    ))}
  </div>
)

/** A filter with one value of a list, or all. */
export const FilterSelect = ({
  all,
  label,
  onChange,
  options,
  value
}: {
  readonly label: string
  readonly all: string
  readonly value: string | undefined
  readonly options: ReadonlyArray<readonly [value: string, label: string]>
  readonly onChange: (value: string | undefined) => void
}) => (
  <SelectControl
    aria-label={label}
    value={value ?? ""}
    onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.value)}
  >
    <option value="">{all}</option>
    {options.map(([value, label]) => (
      <option key={value} value={value}>
        {label}
      </option>
    ))}
  </SelectControl>
)

/** A filter that can only be removed, such as the one of an event. */
export const FilterChip = ({ label, onRemove }: { readonly label: string; readonly onRemove: () => void }) => (
  <span className={css("chip")}>
    {label}
    <Button
      kind="quiet"
      size="small"
      icon="cross"
      aria-label={texts.filters.remove(label)}
      onClick={() => {
        onRemove()
        focusSoon(firstFilter, heading)
      }}
    />
  </span>
)

interface Range {
  readonly from: string | undefined
  readonly to: string | undefined
}

const hourMs = 3_600_000

/** The form of a minute in an address. */
const minuteOf = (time: number): string => `${new Date(time).toISOString().slice(0, 16)}Z`

const textOf = (minute: string | undefined): string => (minute === undefined ? "" : toField(Date.parse(minute)))

// The zone of the entered day: an offset is that of its season.
const zoneOf = (text: string): string => zoneName(Number.isNaN(ofField(text)) ? Date.now() : ofField(text))

const minuteOfText = (text: string): string | undefined =>
  Number.isNaN(ofField(text)) ? undefined : minuteOf(ofField(text))

const RangeDialog = ({
  onChange,
  onClose,
  range
}: {
  readonly range: Range
  readonly onChange: (range: Range) => void
  readonly onClose: () => void
}) => {
  const [from, setFrom] = useState(textOf(range.from))
  const [to, setTo] = useState(textOf(range.to))
  return (
    <Dialog
      title={texts.filters.range}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{texts.cancel}</Button>
          <Button
            kind="primary"
            onClick={() => {
              onChange({ from: minuteOfText(from), to: minuteOfText(to) })
              onClose()
            }}
          >
            {texts.filters.apply}
          </Button>
        </>
      }
    >
      <Field
        label={texts.filters.from(zoneOf(from))}
        type="datetime-local"
        value={from}
        onChange={(event) => setFrom(event.target.value)}
      />
      <Field
        label={texts.filters.to(zoneOf(to))}
        type="datetime-local"
        value={to}
        onChange={(event) => setTo(event.target.value)}
      />
    </Dialog>
  )
}

/** A filter by time: the last hours or days, or a range. */
export const TimeFilter = ({
  onChange,
  range
}: {
  readonly range: Range
  readonly onChange: (range: Range) => void
}) => {
  const [isOpen, setOpen] = useState(false)
  const { from, to } = range
  const text =
    from === undefined && to === undefined
      ? texts.filters.anyTime
      : [from, to].map((minute) => (minute === undefined ? "…" : shortTime(Date.parse(minute)))).join(" - ")
  const last = (hours: number) => () => onChange({ from: minuteOf(Date.now() - hours * hourMs), to: undefined })
  return (
    <>
      <Menu
        label={`${texts.filters.time}: ${text}`}
        buttonClass={buttonStyles["button"]!}
        button={
          <>
            {text}
            <Icon name="down" />
          </>
        }
      >
        <MenuButton onClick={() => onChange({ from: undefined, to: undefined })}>{texts.filters.anyTime}</MenuButton>
        <MenuButton onClick={last(1)}>{texts.filters.lastHour}</MenuButton>
        <MenuButton onClick={last(24)}>{texts.filters.lastDay}</MenuButton>
        <MenuButton onClick={last(7 * 24)}>{texts.filters.lastWeek}</MenuButton>
        <MenuRule />
        <MenuButton onClick={() => setOpen(true)}>{texts.filters.range}</MenuButton>
      </Menu>
      {isOpen && <RangeDialog range={range} onChange={onChange} onClose={() => setOpen(false)} />}
    </>
  )
}
