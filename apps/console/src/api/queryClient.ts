/**
 * The cache of the page. It is emptied when the login ends, and asks anew when polling goes on after a rest.
 */
import { QueryClient } from "@tanstack/react-query"
import { onResume } from "./polling.ts"
import { onLogout } from "../session/session.ts"

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: false, staleTime: 2000 },
    mutations: { retry: false, networkMode: "always" }
  }
})

onLogout(() => queryClient.clear())
onResume(() => void queryClient.invalidateQueries())
