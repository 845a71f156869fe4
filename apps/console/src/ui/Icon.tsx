/**
 * Icons: 16 px, 1.5 px stroke. Each stands beside a word or has a label.
 */
const shapes = {
  check: "M3.5 8.5l3 3 6-7",
  retry: "M13 8a5 5 0 1 1-1.6-3.7M13 2.5V5h-2.5",
  cross: "M4 4l8 8M12 4l-8 8",
  dotted: "M8 2.8v.1M11.7 4.3l-.1.1M13.2 8h-.1M11.7 11.7l-.1-.1M8 13.2v-.1M4.3 11.7l.1-.1M2.8 8h.1M4.3 4.3l.1.1",
  play: "M5.5 3.8l6 4.2-6 4.2z",
  off: "M8 13.2A5.2 5.2 0 1 0 8 2.8a5.2 5.2 0 0 0 0 10.4zM4.4 4.4l7.2 7.2",
  copy: "M5.5 5.5h7v7h-7zM10.5 5.5v-2h-7v7h2",
  right: "M6.5 4l4 4-4 4",
  left: "M9.5 4l-4 4 4 4",
  down: "M4.5 6.5L8 10l3.5-3.5",
  search: "M7 11.2A4.2 4.2 0 1 0 7 2.8a4.2 4.2 0 0 0 0 8.4zM10.2 10.2l3 3",
  help: "M8 13.8A5.8 5.8 0 1 0 8 2.2a5.8 5.8 0 0 0 0 11.6zM6.4 6.3a1.7 1.7 0 1 1 2.3 1.6c-.5.2-.7.5-.7 1M8 11v.1",
  theme: "M8 13.2A5.2 5.2 0 1 0 8 2.8a5.2 5.2 0 0 0 0 10.4zM8 2.8v10.4M10 3.500v9M12 5v6",
  plus: "M8 3.5v9M3.5 8h9",
  overview: "M2.8 2.8h4v5h-4zM9.2 2.8h4v3h-4zM9.2 8.2h4v5h-4zM2.8 10.2h4v3h-4z",
  invoice: "M4 2.5h8v11l-2-1.2-2 1.2-2-1.2-2 1.2zM6.2 5.8h3.6M6.2 8.5h3.6",
  delivery: "M2.5 8h9M8.5 4.5L12 8l-3.5 3.5M13.5 3.5v9",
  endpoint:
    "M8 8m-1.8 0a1.8 1.8 0 1 0 3.6 0a1.8 1.8 0 1 0-3.6 0M4.2 11.8a5.4 5.4 0 0 1 0-7.6M11.8 4.2a5.4 5.4 0 0 1 0 7.6",
  key: "M9.8 9.2a3.3 3.3 0 1 0-3-3L2.8 10.200v3h2.800v-1.800h1.700v-1.700h1.600zM10.300 5.700h.100",
  live: "M8 2.500l5 2v3.700c0 2.800-2.100 4.700-5 5.600-2.900-.900-5-2.800-5-5.600V4.500zM5.800 8l1.700 1.600 2.800-3",
  settings:
    "M2.800 4.800h6.400M12.200 4.800h1M2.800 11.200h1M6.800 11.200h6.400M10.700 4.800m-1.500 0a1.500 1.500 0 1 0 3 0a1.500 1.500 0 1 0-3 0M5.300 11.200m-1.500 0a1.500 1.500 0 1 0 3 0a1.500 1.500 0 1 0-3 0",
  account:
    "M8 8.200a2.600 2.600 0 1 0 0-5.200a2.600 2.600 0 0 0 0 5.200zM3.200 13.300c.500-2.300 2.400-3.500 4.800-3.500s4.300 1.200 4.800 3.500",
  warning: "M8 2.800l5.700 10H2.300zM8 6.800v2.700M8 11.300v.100",
  guide: "M3 3.5h4a1 1 0 0 1 1 1v8a1 1 0 0 0-1-1H3zM13 3.5H9a1 1 0 0 0-1 1v8a1 1 0 0 1 1-1h4z",
  download: "M8 2.800v7M5 7l3 3 3-3M3 13.200h10",
  logout: "M6.500 2.800h-3.500v10.400h3.500M6.500 8h6.700M10.500 5.200L13.300 8l-2.800 2.800"
} as const

export type IconName = keyof typeof shapes

export const Icon = ({ name, label }: { readonly name: IconName; readonly label?: string }) => (
  <svg
    width="16"
    height="16"
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.5"
    strokeLinecap="round"
    strokeLinejoin="round"
    className="icon"
    {...(label === undefined ? { "aria-hidden": true } : { role: "img", "aria-label": label })}
  >
    <path d={shapes[name]} />
  </svg>
)
