/**
 * The organization of the screen.
 */
import { createContext, useContext } from "react"
import type { Organization } from "@govoice/client"

const OrganizationContext = createContext<Organization | undefined>(undefined)

export const OrganizationProvider = OrganizationContext.Provider

/** Returns the organization of the screen. For screens below `/o/`. */
export const useCurrentOrganization = (): Organization => {
  const organization = useContext(OrganizationContext)
  if (organization === undefined) throw new Error("This screen needs an organization.")
  return organization
}

/** Returns the name of the organization of the screen, if it has one. */
export const useOrganizationName = (): string | undefined => useContext(OrganizationContext)?.name
