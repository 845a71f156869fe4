import type { Known, Mode } from "@govoice/client"
import { texts } from "../../text/texts.ts"
import { Check, Group } from "../../ui/Field.tsx"

/** Both modes. */
export const allModes: ReadonlyArray<Known<Mode>> = ["test", "live"]

/** The modes whose events an endpoint receives. The last one cannot be cleared. */
export const Modes = ({
  onChange,
  value
}: {
  readonly value: ReadonlyArray<Known<Mode>>
  readonly onChange: (next: ReadonlyArray<Known<Mode>>) => void
}) => (
  <Group legend={texts.endpoints.modes}>
    {allModes.map((mode) => (
      <Check
        key={mode}
        checked={value.includes(mode)}
        disabled={value.length === 1 && value.includes(mode)}
        onChange={() => onChange(allModes.filter((each) => value.includes(each) !== (each === mode)))}
        hint={texts.endpoints.modeHints[mode]}
      >
        <span className="strong">{texts.mode[mode]}</span>
      </Check>
    ))}
  </Group>
)
