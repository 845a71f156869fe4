import { en } from "../text/en.ts"
import { classNames } from "./classNames.ts"
import styles from "./Bars.module.css"
import { shortTime } from "./times.ts"

const css = classNames(styles)

/** One bar: the deliveries of a period, and those among them that are in trouble. */
export interface Bar {
  readonly start: string
  readonly total: number
  readonly trouble: number
  /** Whether the total was not counted to its end. */
  readonly isCapped: boolean
}

/** The least height of a bar that is not empty, in parts of a hundred. */
const least = 6

/** Bars for the periods of a window. The table beside them has the same numbers. */
export const Bars = ({
  bars,
  label,
  size
}: {
  readonly bars: ReadonlyArray<Bar>
  readonly label: string
  readonly size?: "small"
}) => {
  const most = Math.max(1, ...bars.map(({ total }) => total))
  const height = (count: number) => (count === 0 ? 0 : Math.max(least, (count / most) * 100))
  const total = bars.reduce((sum, bar) => sum + bar.total, 0)
  const trouble = bars.reduce((sum, bar) => sum + bar.trouble, 0)
  const isCapped = bars.some((bar) => bar.isCapped)
  const step = 10
  return (
    <>
      <svg
        className={css("bars", size)}
        viewBox={`0 0 ${Math.max(1, bars.length) * step} 100`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${en.barsLabel(total, trouble, isCapped)}`}
      >
        <line
          className={css("base")}
          x1="0"
          x2={bars.length * step}
          y1="99.5"
          y2="99.5"
          vectorEffect="non-scaling-stroke"
        />
        {bars.map((bar, index) => {
          const whole = height(bar.total)
          const red = Math.min(whole, height(bar.trouble))
          return (
            <g key={bar.start}>
              <rect className={css("bar")} x={index * step + 1} width={step - 2} y={100 - whole} height={whole - red} />
              <rect className={css("trouble")} x={index * step + 1} width={step - 2} y={100 - red} height={red} />
              {size === undefined && (
                <title>{`${shortTime(Date.parse(bar.start))}: ${en.barsLabel(bar.total, bar.trouble, bar.isCapped)}`}</title>
              )}
            </g>
          )
        })}
      </svg>
      {size === undefined && bars.length > 0 && (
        <div className={css("axis")} aria-hidden="true">
          <span>{shortTime(Date.parse(bars[0]!.start))}</span>
          <span>{en.now}</span>
        </div>
      )}
    </>
  )
}
