/**
 * The verdict of a benchmark: ratios of its own figures to those of a peer or a floor that were measured in the same run. No
 * absolute number decides, because a shared machine is a third faster or slower an hour later.
 */

/** Figures of the same rounds, and the goal of their ratio. */
export interface Comparison {
  /** The measured quantity, with its unit. */
  readonly figure: string
  /** The figure of each round. */
  readonly measured: ReadonlyArray<number>
  /** The peer or the floor. */
  readonly reference: string
  /** The figure of the peer or the floor in each round. */
  readonly beside: ReadonlyArray<number>
  readonly atLeast?: number
  readonly atMost?: number
}

/** The median; of an even number of values the mean of the two in the middle. NaN without values. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((left, right) => left - right)
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2
}

/** The ratio of each round, so that a slow phase of the machine affects both of its sides. */
export const ratiosOf = (measured: ReadonlyArray<number>, beside: ReadonlyArray<number>): ReadonlyArray<number> => {
  if (measured.length !== beside.length) {
    throw new Error(`Expected as many rounds on both sides, got ${measured.length} and ${beside.length}`)
  }
  return measured.map((one, round) => one / beside[round]!)
}

/** The least and the greatest ratio, as text. */
export const spreadOf = (ratios: ReadonlyArray<number>): string =>
  `${Math.min(...ratios).toFixed(2)} – ${Math.max(...ratios).toFixed(2)}`

/** Whether the median ratio reaches its goals. A ratio that is not a number reaches none. */
export const isMet = ({ atLeast, atMost, beside, measured }: Comparison): boolean => {
  const ratio = median(ratiosOf(measured, beside))
  if (Number.isNaN(ratio)) return false
  return ratio >= (atLeast ?? -Infinity) && ratio <= (atMost ?? Infinity)
}

const figureOf = (value: number): string =>
  Math.abs(value) >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)))

const goalOf = ({ atLeast, atMost }: Comparison): string =>
  [atLeast !== undefined && `≥ ${atLeast}`, atMost !== undefined && `≤ ${atMost}`].filter(Boolean).join(", ")

const row = (comparison: Comparison): string => {
  const { beside, figure, measured, reference } = comparison
  const ratios = ratiosOf(measured, beside)
  const cells = [
    figure,
    figureOf(median(measured)),
    reference,
    figureOf(median(beside)),
    median(ratios).toFixed(2),
    spreadOf(ratios),
    goalOf(comparison),
    isMet(comparison) ? "met" : "**missed**"
  ]
  return `| ${cells.join(" | ")} |`
}

/** A verdict over all comparisons of a benchmark. */
export interface Verdict {
  /** A section in Markdown: both figures of each comparison, the ratio, its spread over the rounds, and its goal. */
  readonly report: string
  readonly exitCode: 0 | 1
}

/** Judges comparisons. */
export const judge = (comparisons: ReadonlyArray<Comparison>): Verdict => ({
  report: [
    "## Verdict",
    "",
    "Medians of the rounds; the ratio is the median of the ratios of the rounds.",
    "",
    "| figure | measured | beside | its figure | ratio | spread | goal | |",
    "| --- | ---: | --- | ---: | ---: | ---: | ---: | --- |",
    ...comparisons.map(row)
  ].join("\n"),
  exitCode: comparisons.every(isMet) ? 0 : 1
})
