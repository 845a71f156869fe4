import { lazy } from "react"

/** `OwnerNotices`, which few pages show, and few days: not part of the first load. */
export const OwnerNotices = lazy(() => import("./OwnerNotices.tsx"))
