/** The result of one check of `govoice doctor`. */
export interface Finding {
  readonly check: string
  /** A warning can be intended; a fault cannot. */
  readonly level: "ok" | "warning" | "fault"
  readonly message: string
  /** The remedy. */
  readonly remedy?: string
}

const at =
  (level: Finding["level"]) =>
  (check: string, message: string, remedy?: string): Finding => ({
    check,
    level,
    message,
    ...(remedy === undefined ? {} : { remedy })
  })

export const ok = at("ok")
export const warning = at("warning")
export const fault = at("fault")
