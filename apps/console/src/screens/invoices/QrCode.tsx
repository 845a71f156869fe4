import { encode } from "uqr"
import { classNames } from "../../ui/classNames.ts"
import styles from "./Invoice.module.css"

const css = classNames(styles)

/** A QR code as one SVG path: black on white in both themes, with the quiet zone that scanners need. */
export const QrCode = ({ label, text }: { readonly text: string; readonly label: string }) => {
  const { data, size } = encode(text, { ecc: "M", border: 4 })
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join("")
  return (
    <svg
      className={css("qr")}
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} className={css("paper")} />
      <path d={path} className={css("ink")} />
    </svg>
  )
}
