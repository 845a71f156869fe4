import { usePrefetchQuery, useQuery, type UseQueryResult } from "@tanstack/react-query"
import { lazy, type ReactNode, Suspense } from "react"
import { Redirect, Route, Switch, useLocation } from "wouter"
import { endpointsQuery, organizationsQuery, useOrganization } from "../api/queries.ts"
import { Overview } from "../screens/overview/Overview.tsx"
import { texts } from "../text/texts.ts"
import { EmptyState } from "../ui/EmptyState.tsx"
import { ButtonLink } from "../ui/Button.tsx"
import { Loaded } from "../ui/Loaded.tsx"
import { ProblemNotice } from "../ui/Notice.tsx"
import { Skeleton } from "../ui/Skeleton.tsx"
import { paths, patterns } from "../url/paths.ts"
import { Failure } from "./Failure.tsx"
import { OrganizationProvider } from "../ui/organization.ts"
import { useOverlay } from "./overlays.ts"
import { Palette } from "./Palette.tsx"
import { Screen } from "../ui/Screen.tsx"
import { Shell } from "./Shell.tsx"
import { useShortcuts } from "./shortcuts.ts"

const Account = lazy(() => import("../screens/account/Account.tsx"))
const ApiKeys = lazy(() => import("../screens/keys/ApiKeys.tsx"))
const Deliveries = lazy(() => import("../screens/deliveries/Deliveries.tsx"))
const Delivery = lazy(() => import("../screens/delivery/Delivery.tsx"))
const Endpoint = lazy(() => import("../screens/endpoints/Endpoint.tsx"))
const Endpoints = lazy(() => import("../screens/endpoints/Endpoints.tsx"))
const Go = lazy(() => import("../screens/go/Go.tsx"))
const Invoice = lazy(() => import("../screens/invoices/Invoice.tsx"))
const Invoices = lazy(() => import("../screens/invoices/Invoices.tsx"))
const KeySheet = lazy(() => import("./KeySheet.tsx"))
const LiveMode = lazy(() => import("../screens/live/LiveMode.tsx"))
const NewApiKey = lazy(() => import("../screens/keys/NewApiKey.tsx"))
const NewEndpoint = lazy(() => import("../screens/endpoints/NewEndpoint.tsx"))
const NewOrganization = lazy(() => import("../screens/settings/NewOrganization.tsx"))
const Settings = lazy(() => import("../screens/settings/Settings.tsx"))

export const NotFound = () => (
  <Screen title={texts.notFound.title}>
    <EmptyState sentence={texts.notFound.sentence}>
      <ButtonLink to={paths.home}>{texts.notFound.home}</ButtonLink>
    </EmptyState>
  </Screen>
)

/** The data that decides on the screen. Its error is a screen, with a heading and a title. */
const Decided = <A,>({
  children,
  query
}: {
  readonly query: UseQueryResult<A>
  readonly children: (data: A) => ReactNode
}) =>
  query.data === undefined && query.error !== null ? (
    <Screen title={texts.notShown}>
      <ProblemNotice error={query.error} onRetry={() => void query.refetch()} />
    </Screen>
  ) : (
    <Loaded query={query}>{children}</Loaded>
  )

const Home = () => {
  const organizations = useQuery(organizationsQuery)
  return (
    <Decided query={organizations}>
      {([newest]) => <Redirect to={newest === undefined ? paths.newOrganization : paths.overview(newest.id)} replace />}
    </Decided>
  )
}

const InOrganization = ({ children, org }: { readonly org: string; readonly children: ReactNode }) => {
  const organization = useOrganization(org)
  return (
    <Decided query={organization}>
      {(found) =>
        found === null ? <NotFound /> : <OrganizationProvider value={found}>{children}</OrganizationProvider>
      }
    </Decided>
  )
}

/** Asks for the endpoints beside the organization, which the overview waits for. */
const EndpointsOfOverview = ({ org }: { readonly org: string }) => {
  usePrefetchQuery(endpointsQuery(org))
  return null
}

const OrganizationScreens = ({ org }: { readonly org: string }) => (
  <>
    <Route path={paths.overview(":org")}>
      <EndpointsOfOverview org={org} />
    </Route>
    <InOrganization org={org}>
      <Switch>
        <Route path={paths.overview(":org")}>
          <Overview />
        </Route>
        <Route path={paths.deliveries(":org")}>
          <Deliveries />
        </Route>
        <Route path={patterns.delivery}>
          {({ delivery, endpoint }) => <Delivery endpoint={endpoint} id={delivery} />}
        </Route>
        <Route path={paths.endpoints(":org")}>
          <Endpoints />
        </Route>
        <Route path={paths.newEndpoint(":org")}>
          <NewEndpoint />
        </Route>
        <Route path={patterns.endpoint}>
          {({ endpoint, tab }) => <Endpoint id={endpoint} tab={tab ?? "health"} />}
        </Route>
        <Route path={paths.invoices(":org")}>
          <Invoices />
        </Route>
        <Route path={patterns.invoice}>{({ invoice, tab }) => <Invoice id={invoice} tab={tab} />}</Route>
        <Route path={paths.keys(":org")}>
          <ApiKeys />
        </Route>
        <Route path={paths.newKey(":org")}>
          <NewApiKey />
        </Route>
        <Route path={paths.live(":org")}>
          <LiveMode />
        </Route>
        <Route path={paths.settings(":org")}>
          <Settings />
        </Route>
        <Route>
          <NotFound />
        </Route>
      </Switch>
    </InOrganization>
  </>
)

/** The screens of the console. */
export const Routes = () => {
  const [path] = useLocation()
  const org = /^\/o\/([^/]+)/.exec(path)?.[1]
  const overlay = useOverlay()
  useShortcuts(org)
  return (
    <Shell org={org}>
      <Failure screen={path}>
        <Suspense fallback={<Skeleton lines={6} />}>
          <Switch>
            <Route path={paths.home}>
              <Home />
            </Route>
            <Route path={paths.login}>
              <Redirect to={paths.home} replace />
            </Route>
            <Route path={paths.signup}>
              <Redirect to={paths.home} replace />
            </Route>
            <Route path={paths.account}>
              <Account />
            </Route>
            <Route path={paths.newOrganization}>
              <NewOrganization />
            </Route>
            <Route path={patterns.go}>{({ id }) => <Go id={id} />}</Route>
            <Route path="/o/:org/*?">{({ org }) => <OrganizationScreens key={org} org={org} />}</Route>
            <Route>
              <NotFound />
            </Route>
          </Switch>
        </Suspense>
      </Failure>
      {overlay === "palette" && <Palette org={org} />}
      {overlay === "keys" && (
        <Suspense fallback={null}>
          <KeySheet />
        </Suspense>
      )}
    </Shell>
  )
}
