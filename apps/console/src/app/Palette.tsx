import { useQuery } from "@tanstack/react-query"
import { useEffect, useId, useRef, useState } from "react"
import { useLocation } from "wouter"
import { endpointsQuery, organizationsQuery } from "../api/queries.ts"
import { en } from "../text/en.ts"
import { classNames } from "../ui/classNames.ts"
import { Icon, type IconName } from "../ui/Icon.tsx"
import { kindOf } from "../url/ids.ts"
import { paths } from "../url/paths.ts"
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
        { label: en.nav.overview, icon: "overview", to: paths.overview(org) },
        { label: en.nav.invoices, icon: "invoice", to: paths.invoices(org) },
        { label: en.nav.deliveries, icon: "delivery", to: paths.deliveries(org) },
        { label: en.nav.endpoints, icon: "endpoint", to: paths.endpoints(org) },
        { label: en.endpoints.create, icon: "plus", to: paths.newEndpoint(org) },
        { label: en.nav.keys, icon: "key", to: paths.keys(org) },
        { label: en.apiKeys.create, icon: "plus", to: paths.newKey(org) },
        { label: en.nav.live, icon: "live", to: paths.live(org) },
        { label: en.nav.settings, icon: "settings", to: paths.settings(org) }
      ] as const)),
  { label: en.nav.accountSettings, icon: "account", to: paths.account },
  { label: en.nav.newOrganization, icon: "plus", to: paths.newOrganization }
]

const useOptions = (org: string | undefined, text: string): ReadonlyArray<Option> => {
  const { data: organizations = [] } = useQuery(organizationsQuery)
  const { data: endpoints = [] } = useQuery({ ...endpointsQuery(org ?? ""), enabled: org !== undefined })
  const words = text.trim().toLowerCase()
  if (kindOf(text.trim()) !== undefined)
    return [{ label: en.palette.goTo(text.trim()), icon: "right", to: paths.go(text.trim()) }]
  const all = [
    ...pages(org),
    ...endpoints.map(({ id, url }): Option => ({ label: url, icon: "endpoint", to: paths.endpoint(org!, id) })),
    ...organizations
      .filter(({ id }) => id !== org)
      .map(({ id, name }): Option => ({ label: name, icon: "overview", to: paths.overview(id) }))
  ]
  return all.filter(({ label }) => label.toLowerCase().includes(words)).slice(0, 12)
}

/** Finds a screen, an endpoint, an organization or any identifier. A combobox with a list, as the ARIA pattern has it. */
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
      aria-label={en.palette.open}
      onClose={closeOverlay}
      onClick={(event) => {
        if (event.target === event.currentTarget) closeOverlay()
      }}
    >
      <input
        className={css("input")}
        type="text"
        role="combobox"
        aria-label={en.palette.open}
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={chosen >= 0 ? `${id}-${chosen}` : undefined}
        aria-autocomplete="list"
        placeholder={en.palette.placeholder}
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
      <div role="listbox" id={id} aria-label={en.palette.results} className={css("list")}>
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
      {options.length === 0 && <p className={css("empty")}>{en.palette.none}</p>}
    </dialog>
  )
}
