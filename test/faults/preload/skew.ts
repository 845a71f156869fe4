/** Sets the wall clock of its process ahead by `SKEW_MS`, or back if negative. Timers and elapsed times are unchanged. */
const skewMs = Number(process.env["SKEW_MS"])

const Real = Date
globalThis.Date = class extends Real {
  constructor(...given: Array<never>) {
    if (given.length === 0) super(Real.now() + skewMs)
    else super(...(given as [never]))
  }
  static override now(): number {
    return Real.now() + skewMs
  }
} as DateConstructor
Object.defineProperty(performance, "timeOrigin", { value: performance.timeOrigin + skewMs })
