/** V8 flags of the server. */
import { setFlagsFromString } from "node:v8"

/**
 * Disables allocation-site pretenuring in V8.
 *
 * V8 allocates objects in the old generation if earlier objects of the same allocation site lived long. Under load, the objects
 * of a request in flight live that long; dead old objects then retain everything that they refer to until the next full
 * collection. Measured with `bench/engine`: without pretenuring, a worker takes a tenth less CPU time and its memory stays flat.
 */
export const disablePretenuring = (): void => setFlagsFromString("--no-allocation-site-pretenuring")

/**
 * Has V8 collect the old generation when it has doubled since the last time.
 *
 * By itself, V8 lets a small heap grow to about four times what is in use. The rows and lists of a batch in live mode live long
 * enough to get there, and hold memory outside of the heap, too. Measured with `bench/ksef` at 10,000 invoices: 234 and 242 MiB
 * resident instead of 292 and 302, which miss the goal of the benchmark.
 */
export const limitHeapGrowth = (): void => setFlagsFromString("--heap-growing-percent=100")

/**
 * Keeps WebAssembly on the baseline compiler of V8.
 *
 * The optimizing compiler takes the functions of Postgres that a start makes hot: a second of processor time, and 500 MB while it
 * runs. Measured on the embedded database: without it, a statement takes a fifth more processor time in the long run.
 */
export const disableWasmOptimization = (): void => {
  // The first flag alone has no effect.
  setFlagsFromString("--no-wasm-tier-up")
  setFlagsFromString("--no-wasm-dynamic-tiering")
}
