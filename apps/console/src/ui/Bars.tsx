import { texts } from "../text/texts.ts"
import { classNames } from "./classNames.ts"
import styles from "./Bars.module.css"
import { useWide } from "./media.ts"
import { number } from "./numbers.ts"
import { clockMinute, shortTime } from "./times.ts"

const css = classNames(styles)

/** One bar: the deliveries of a period, and those among them that are in trouble. */
export interface Bar {
  readonly start: string
  readonly total: number
  readonly trouble: number
  /** Whether the total was not counted to its end. */
  readonly isCapped: boolean
}

interface Props {
  readonly bars: ReadonlyArray<Bar>
  readonly label: string
}

const shown = (count: number, isCapped: boolean): string => (isCapped ? `${number(count)}+` : number(count))

const wordsOf = (bars: ReadonlyArray<Bar>): string => {
  const sum = (of: (bar: Bar) => number) => bars.reduce((all, bar) => all + of(bar), 0)
  const isCapped = bars.some((bar) => bar.isCapped)
  return texts.barsLabel(
    shown(
      sum(({ total }) => total),
      isCapped
    ),
    number(sum(({ trouble }) => trouble))
  )
}

/** The least height of a bar that is not empty, in parts of a hundred. */
const least = 6

const partOf = (count: number, most: number): number => (count === 0 ? 0 : Math.max(least, (count / most) * 100))

/** Small bars for the row of a table. The table beside them has the same numbers. */
export const SmallBars = ({ bars, label }: Props) => {
  const most = Math.max(1, ...bars.map(({ total }) => total))
  const step = 10
  return (
    <svg
      className={css("small")}
      viewBox={`0 0 ${Math.max(1, bars.length) * step} 100`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: ${wordsOf(bars)}`}
    >
      <line
        className={css("base")}
        x1="0"
        x2={bars.length * step}
        y1="99.5"
        y2="99.5"
        vectorEffect="non-scaling-stroke"
      />
      {bars.map(({ start, total, trouble }, index) => {
        const whole = partOf(total, most)
        const red = Math.min(whole, partOf(trouble, most))
        return (
          <g key={start}>
            <rect className={css("bar")} x={index * step + 1} width={step - 2} y={100 - whole} height={whole - red} />
            <rect className={css("trouble")} x={index * step + 1} width={step - 2} y={100 - red} height={red} />
          </g>
        )
      })}
    </svg>
  )
}

/** The end of a scale: the next of 1, 2 or 5 times a power of ten, so that its half is a whole number, too. */
export const scaleOf = (most: number): number => {
  if (most <= 2) return 2
  const power = 10 ** Math.floor(Math.log10(most))
  return [1, 2, 4, 5, 10].map((times) => times * power).find((end) => end >= most && end % 2 === 0) ?? 20 * power
}

const left = 44
const top = 20
const height = 120
const foot = 24

/** Bars for the periods of a window, with a scale, the times, and the value of each bar where there is room. */
export const Bars = ({ bars, label }: Props) => {
  const isWide = useWide(1024)
  const isNarrow = !useWide(640)
  const width = isWide ? 960 : isNarrow ? 360 : 640
  const end = scaleOf(Math.max(...bars.map(({ total }) => total), 0))
  const step = (width - left) / Math.max(1, bars.length)
  const y = (count: number) => top + height - (partOf(count, end) / 100) * height
  const every = isNarrow ? 8 : 4
  const isDay = bars.length <= 24
  return (
    <svg
      className={css("bars")}
      viewBox={`0 0 ${width} ${top + height + foot}`}
      role="img"
      aria-label={`${label}: ${wordsOf(bars)}`}
    >
      {[0, end / 2, end].map((value) => (
        <g key={value}>
          <line
            className={css("base")}
            x1={left}
            x2={width}
            y1={top + height - (value / end) * height}
            y2={top + height - (value / end) * height}
          />
          <text className={css("text")} x={left - 8} y={top + height - (value / end) * height + 4} textAnchor="end">
            {number(value)}
          </text>
        </g>
      ))}
      {bars.map(({ isCapped, start, total, trouble }, index) => {
        const x = left + index * step
        const upper = y(total)
        const red = Math.max(upper, y(trouble))
        const time = Date.parse(start)
        return (
          <g key={start}>
            <rect className={css("bar")} x={x + 2} width={step - 4} y={upper} height={red - upper} />
            <rect className={css("trouble")} x={x + 2} width={step - 4} y={red} height={top + height - red} />
            {total > 0 && !isNarrow && (
              <text className={css("text")} x={x + step / 2} y={upper - 5} textAnchor="middle">
                {shown(total, isCapped)}
              </text>
            )}
            {index % every === 0 && (
              <text className={css("text")} x={x + 2} y={top + height + 18}>
                {isDay ? clockMinute(time) : shortTime(time).split(",")[0]}
              </text>
            )}
            <title>{`${shortTime(time)}: ${texts.barsLabel(shown(total, isCapped), number(trouble))}`}</title>
          </g>
        )
      })}
    </svg>
  )
}
