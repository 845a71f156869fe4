import { useMutation, useQuery } from "@tanstack/react-query"
import { type ReactNode, useEffect, useRef } from "react"
import { Link, useLocation, useSearch } from "wouter"
import { accountQuery, organizationsQuery, overviewQuery } from "../api/queries.ts"
import { logout } from "../session/session.ts"
import icon from "../styles/icon.svg"
import { texts } from "../text/texts.ts"
import { classNames } from "../ui/classNames.ts"
import { Icon, type IconName } from "../ui/Icon.tsx"
import { Menu, MenuButton, menuItem, MenuLink, MenuNote, MenuRule } from "../ui/Menu.tsx"
import { count } from "../ui/numbers.ts"
import { ProblemNotice } from "../ui/Notice.tsx"
import { paths } from "../url/paths.ts"
import { deliverySearch } from "../url/searches.ts"
import { setPreference, usePreference } from "../ui/preferences.ts"
import { openKeySheet, openPalette } from "./overlays.ts"
import styles from "./Shell.module.css"

const css = classNames(styles)

/** The key that opens the palette, as the platform writes it. */
const paletteKey = /mac|iphone|ipad/i.test(navigator.userAgent) ? "⌘K" : "Ctrl K"

const screens = (org: string): ReadonlyArray<readonly [IconName, string, string]> => [
  ["overview", texts.nav.overview, paths.overview(org)],
  ["invoice", texts.nav.invoices, paths.invoices(org)],
  ["delivery", texts.nav.deliveries, paths.deliveries(org)],
  ["endpoint", texts.nav.endpoints, paths.endpoints(org)],
  ["key", texts.nav.keys, paths.keys(org)],
  ["live", texts.nav.live, paths.live(org)],
  ["settings", texts.nav.settings, paths.settings(org)]
]

const OrganizationMenu = ({ org }: { readonly org: string | undefined }) => {
  const { data = [] } = useQuery(organizationsQuery)
  const current = data.find(({ id }) => id === org)
  return (
    <Menu
      label={current === undefined ? texts.nav.organizations : `${texts.nav.organizations}: ${current.name}`}
      buttonClass={css("switcher")}
      button={
        <>
          <span>{current?.name ?? texts.nav.organizations}</span>
          <Icon name="down" />
        </>
      }
    >
      {data.map(({ id, name }) => (
        <MenuLink key={id} to={paths.overview(id)} isCurrent={id === org}>
          {name}
        </MenuLink>
      ))}
      {data.length > 0 && <MenuRule />}
      <MenuLink to={paths.newOrganization} icon="plus">
        {texts.nav.newOrganization}
      </MenuLink>
    </Menu>
  )
}

const ThemeButton = () => {
  const theme = usePreference("theme")
  const next = theme === "system" ? "light" : theme === "light" ? "dark" : "system"
  const label = texts.theme.button(texts.theme[theme], texts.theme[next])
  return (
    <button
      type="button"
      className={css("round")}
      aria-label={label}
      title={label}
      onClick={() => setPreference("theme", next)}
    >
      <Icon name="theme" />
    </button>
  )
}

const AccountMenu = ({ onLogout }: { readonly onLogout: () => void }) => {
  const { data } = useQuery(accountQuery)
  return (
    <Menu
      align="end"
      label={texts.nav.account}
      buttonClass={css("round")}
      button={
        <>
          <Icon name="account" />
          <Icon name="down" />
        </>
      }
    >
      {data !== undefined && <MenuNote>{data.email}</MenuNote>}
      <MenuLink to={paths.account} icon="settings">
        {texts.nav.accountSettings}
      </MenuLink>
      <MenuRule />
      <MenuButton icon="logout" onClick={onLogout}>
        {texts.nav.logout}
      </MenuButton>
    </Menu>
  )
}

/** The screen that an address below it belongs to. An open delivery covers the deliveries of all endpoints or of its own. */
const parentOf = (org: string, path: string, search: string): string | undefined =>
  /\/deliveries\/./.test(path) && deliverySearch.read(search).value.in === undefined
    ? paths.deliveries(org)
    : screens(org).find(([, , to]) => to !== paths.overview(org) && path.startsWith(`${to}/`))?.[2]

const Navigation = ({ org }: { readonly org: string }) => {
  const [path] = useLocation()
  const current = parentOf(org, path, useSearch())
  const { data } = useQuery(overviewQuery(org))
  const failed = data?.endpoints.reduce((sum, { failed24h }) => sum + failed24h, 0) ?? 0
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    // Keeps the current screen in view where the navigation is one line.
    const item = nav.current?.querySelector<HTMLElement>("[aria-current]")
    if (item) nav.current!.scrollLeft = item.offsetLeft - 16
  }, [path])
  return (
    <nav ref={nav} className={css("nav")} aria-label={texts.nav.label}>
      <ul>
        {screens(org).map(([name, label, to]) => (
          <li key={to}>
            <Link
              to={to}
              className={css("item")}
              aria-current={path === to ? "page" : to === current ? "true" : undefined}
            >
              <Icon name={name} />
              {label}
              {to === paths.deliveries(org) && failed > 0 && (
                <span className={css("count")} title={texts.nav.failedDay(failed)}>
                  {count(failed)}
                  <span className="visually-hidden"> {texts.nav.failedDay(failed)}</span>
                </span>
              )}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** The organization of the screen that was shown last. */
let lastOrganization: string | undefined

/** Returns the organization of the address. On screens of the account: the last one, or the newest of the account. */
const useShownOrganization = (org: string | undefined): string | undefined => {
  const { data = [] } = useQuery(organizationsQuery)
  useEffect(() => {
    lastOrganization = org ?? lastOrganization
  }, [org])
  return org ?? data.find(({ id }) => id === lastOrganization)?.id ?? data[0]?.id
}

/** The frame of every screen after the login. */
export const Shell = ({
  children,
  org: orgOfAddress
}: {
  readonly org: string | undefined
  readonly children: ReactNode
}) => {
  const org = useShownOrganization(orgOfAddress)
  const { error, mutate } = useMutation({ mutationFn: logout })
  return (
    <>
      <a className={css("skip")} href="#main">
        {texts.skip}
      </a>
      <header className={css("header")}>
        <Link
          to={org === undefined ? paths.home : paths.overview(org)}
          className={css("brand")}
          aria-label={texts.nav.home}
        >
          <img src={icon} alt="" width="24" height="24" />
          <span>Govoice</span>
        </Link>
        <OrganizationMenu org={org} />
        <button type="button" className={css("find")} onClick={openPalette}>
          <Icon name="search" />
          <span>{texts.palette.open}</span>
          <kbd>{paletteKey}</kbd>
        </button>
        <Menu align="end" label={texts.help.title} buttonClass={css("round")} button={<Icon name="help" />}>
          <a className={menuItem} href="/docs/guides">
            <Icon name="guide" />
            {texts.help.guides}
          </a>
          {texts.locale === "pl-PL" ? (
            <a className={menuItem} href="/docs/guides/integrators-pl">
              <Icon name="guide" />
              {texts.help.integrators}
            </a>
          ) : (
            <a className={menuItem} href="/docs/guides/integrators">
              <Icon name="guide" />
              {texts.help.integrators}
            </a>
          )}
          <a className={menuItem} href="/docs">
            <Icon name="invoice" />
            {texts.help.reference}
          </a>
          <MenuRule />
          <MenuButton icon="help" onClick={openKeySheet}>
            {texts.help.keys}
          </MenuButton>
        </Menu>
        <ThemeButton />
        <AccountMenu onLogout={() => mutate()} />
      </header>
      <div className={css("body")}>
        {org !== undefined && <Navigation org={org} />}
        <main id="main" className={css("main")} tabIndex={-1}>
          {error !== null && <ProblemNotice error={error} onRetry={() => mutate()} />}
          {children}
        </main>
      </div>
    </>
  )
}
