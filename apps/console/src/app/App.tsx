import { QueryClientProvider, useQuery } from "@tanstack/react-query"
import { useEffect } from "react"
import { Router, useLocation } from "wouter"
import { queryClient } from "../api/queryClient.ts"
import { configQuery } from "../api/queries.ts"
import { Entrance } from "../screens/entrance/Entrance.tsx"
import { problemOf } from "../session/problem.ts"
import { renew, useRefreshError, useSession } from "../session/session.ts"
import { texts } from "../text/texts.ts"
import { setRegion } from "../ui/announce.ts"
import { ProblemNotice } from "../ui/Notice.tsx"
import { Toasts } from "../ui/Toasts.tsx"
import { navigateUnlessGuarded } from "../ui/leaving.ts"
import { Plain } from "../ui/Plain.tsx"
import { paths } from "../url/paths.ts"
import { Routes } from "./Routes.tsx"

// Begins before the first render. Errors are in the state of the session.
void renew().catch(() => {})

const Content = () => {
  const session = useSession()
  const [location] = useLocation()
  const refreshError = useRefreshError()
  const config = useQuery(configQuery)
  if (!isSecureContext) return <Plain title={texts.insecure.title} sentence={texts.insecure.sentence} />
  // A configuration that is known stays when it cannot be read again, with everything below it.
  if (config.data === undefined && config.error !== null)
    return (
      <Plain title={texts.unreachable.title}>
        <ProblemNotice error={config.error} onRetry={() => void config.refetch()} />
      </Plain>
    )
  if (config.data === undefined || session === "unknown") return null
  if (!config.data.apiEnabled) return <Plain title={texts.apiDisabled.title} sentence={texts.apiDisabled.sentence} />
  if (session === "unreachable") {
    const { goesOn, notRenewed, title } = texts.unreachable
    const { code, retryAfterMs } = problemOf(refreshError)
    return (
      <Plain
        title={code === "connection_failed" ? title : notRenewed}
        sentence={retryAfterMs === undefined ? undefined : goesOn(texts.seconds(Math.ceil(retryAfterMs / 1000)))}
      >
        <ProblemNotice error={refreshError} onRetry={() => void renew()} />
      </Plain>
    )
  }
  // The link of a mail works in a browser with a login, too.
  return session === "loggedIn" && location !== paths.reset ? <Routes /> : <Entrance config={config.data} />
}

export const App = () => {
  useEffect(() => () => setRegion(null), [])
  return (
    <QueryClientProvider client={queryClient}>
      <Router base="/console" aroundNav={navigateUnlessGuarded}>
        <Content />
      </Router>
      <div ref={setRegion} className="visually-hidden" role="status" aria-live="polite" />
      <Toasts />
    </QueryClientProvider>
  )
}
