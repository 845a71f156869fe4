import { useQuery } from "@tanstack/react-query"
import { useEffect, useId, useRef, useState } from "react"
import { useLocation } from "wouter"
import { endpointsQuery, organizationsQuery } from "../api/queries.ts"
import { texts } from "../text/texts.ts"
import { classNames } from "../ui/classNames.ts"
import { Icon, type IconName } from "../ui/Icon.tsx"
import { kindOf } from "../url/ids.ts"
import { namesOf } from "../url/invoiceNames.ts"
import { paths } from "../url/paths.ts"
import { invoiceSearch, noInvoiceFilter } from "../url/searches.ts"
import { closeOverlay } from "./overlays.ts"
import styles from "./Palette.module.css"

const css = classNames(styles)

interface Option {
  readonly label: string
  readonly icon: IconName
  readonly to: string
}

const pages = (org: string | undefined): ReadonlyArray<Option> => [
  ...(org === undefined
    ? []
    : ([
        { label: texts.nav.overview, icon: "overview", to: paths.overview(org) },
        { label: texts.nav.invoices, icon: "invoice", to: paths.invoices(org) },
        { label: texts.nav.deliveries, icon: "delivery", to: paths.deliveries(org) },
        { label: texts.nav.endpoints, icon: "endpoint", to: paths.endpoints(org) },
        { label: texts.endpoints.create, icon: "plus", to: paths.newEndpoint(org) },
        { label: texts.nav.keys, icon: "key", to: paths.keys(org) },
        { label: texts.apiKeys.create, icon: "plus", to: paths.newKey(org) },
        { label: texts.nav.live, icon: "live", to: paths.live(org) },
        { label: texts.nav.settings, icon: "settings", to: paths.settings(org) }
      ] as const)),
  { label: texts.nav.accountSettings, icon: "account", to: paths.account },
  { label: texts.nav.newOrganization, icon: "plus", to: paths.newOrganization }
]

const useOptions = (org: string | undefined, text: string): ReadonlyArray<Option> => {
  const { data: organizations = [] } = useQuery(organizationsQuery)
  const { data: endpoints = [] } = useQuery({ ...endpointsQuery(org ?? ""), enabled: org !== undefined })
  const words = text.trim().toLowerCase()
  if (kindOf(text.trim()) !== undefined)
    return [{ label: texts.palette.goTo(text.trim()), icon: "right", to: paths.go(text.trim()) }]
  const all = [
    ...pages(org),
    ...endpoints.map(({ id, url }): Option => ({ label: url, icon: "endpoint", to: paths.endpoint(org!, id) })),
    ...organizations
      .filter(({ id }) => id !== org)
      .map(({ id, name }): Option => ({ label: name, icon: "overview", to: paths.overview(id) }))
  ]
  return [
    ...all.filter(({ label }) => label.toLowerCase().includes(words)).slice(0, 12),
    ...invoicesBy(org, text.trim())
  ]
}

// A number, a key or metadata has a digit or an equals sign, and the name of a screen has none.
const invoicesBy = (org: string | undefined, text: string): ReadonlyArray<Option> =>
  org === undefined || !/[\d=]/.test(text)
    ? []
    : namesOf(text).map((name) => ({
        label: texts.palette.invoices(texts.invoice.names[name], text),
        icon: "invoice",
        to: `${paths.invoices(org)}${invoiceSearch.write({ ...noInvoiceFilter, [name]: text })}`
      }))

/** Finds a screen, an endpoint, an organization, an invoice by what people know of it, or any identifier. A combobox with a list, as the ARIA pattern has it. */
export const Palette = ({ org }: { readonly org: string | undefined }) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState("")
  const [active, setActive] = useState(0)
  const [, navigate] = useLocation()
  const options = useOptions(org, text)
  const id = useId()
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  const chosen = Math.min(active, options.length - 1)
  const follow = (option: Option | undefined) => {
    if (option === undefined) return
    closeOverlay()
    navigate(option.to)
  }
  return (
    <dialog
      ref={dialog}
      className={css("dialog")}
      aria-label={texts.palette.open}
      onClose={closeOverlay}
      onClick={(event) => {
        if (event.target === event.currentTarget) closeOverlay()
      }}
    >
      <input
        className={css("input")}
        type="text"
        role="combobox"
        aria-label={texts.palette.open}
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={chosen >= 0 ? `${id}-${chosen}` : undefined}
        aria-autocomplete="list"
        placeholder={texts.palette.placeholder}
        autoComplete="off"
        spellCheck={false}
        autoFocus
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setActive(0)
        }}
        onKeyDown={(event) => {
          const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
          if (step !== 0) {
            event.preventDefault()
            setActive((chosen + step + options.length) % Math.max(1, options.length))
          } else if (event.key === "Enter") {
            event.preventDefault()
            follow(options[chosen])
          }
        }}
      />
      <div role="listbox" id={id} aria-label={texts.palette.results} className={css("list")}>
        {options.map((option, index) => (
          <div
            key={option.to}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            className={css("option")}
            onPointerMove={() => setActive(index)}
            onClick={() => follow(option)}
          >
            <Icon name={option.icon} />
            <span>{option.label}</span>
          </div>
        ))}
      </div>
      {options.length === 0 && <p className={css("empty")}>{texts.palette.none}</p>}
    </dialog>
  )
}
