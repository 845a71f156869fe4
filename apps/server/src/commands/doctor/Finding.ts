/**
 * What the doctor found.
 *
 * @since 0.1.0
 */

/**
 * One thing that was looked at.
 *
 * @category models
 * @since 0.1.0
 */
export interface Finding {
  readonly about: string
  /** A warning may be what somebody wants; a fault cannot be. */
  readonly level: "ok" | "warning" | "fault"
  readonly says: string
  /** What to do, where there is something to do. */
  readonly remedy?: string
}

const at =
  (level: Finding["level"]) =>
  (about: string, says: string, remedy?: string): Finding => ({
    about,
    level,
    says,
    ...(remedy === undefined ? {} : { remedy })
  })

export const ok = at("ok")
export const warning = at("warning")
export const fault = at("fault")
