/**
 * How long things live at KSeF, in milliseconds. The simulator divides each by its speed.
 */
import { day, hour, minute } from "./time/Clock.ts"

export const lifetimes = {
  challenge: 10 * minute,
  authenticationToken: 45 * minute,
  accessToken: 15 * minute,
  refreshToken: 7 * day,
  onlineSession: 12 * hour,
  /** For each declared part of a batch. */
  partUpload: 20 * minute,
  link: 3 * day
} as const
