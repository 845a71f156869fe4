import type { EventType, Known } from "@govoice/client"
import { language, texts } from "../../text/texts.ts"
import { Check, Group } from "../../ui/Field.tsx"
import { eventMeanings, knownEventTypes } from "../../text/events.ts"

export type Subscription = ReadonlyArray<"*" | Known<EventType>>

/** The event types of an endpoint: all, also later ones, or some of them. */
export const EventTypes = ({
  onChange,
  value
}: {
  readonly value: Subscription
  readonly onChange: (next: Subscription) => void
}) => {
  const isAll = value.includes("*")
  const toggle = (type: Known<EventType>) =>
    onChange(value.includes(type) ? value.filter((each) => each !== type) : [...value, type])
  return (
    <Group legend={texts.endpoints.types}>
      <Check type="radio" name="types" checked={isAll} onChange={() => onChange(["*"])} hint={texts.endpoints.allHint}>
        {texts.endpoints.all}
      </Check>
      <Check type="radio" name="types" checked={!isAll} onChange={() => onChange(knownEventTypes)}>
        {texts.endpoints.some}
      </Check>
      {!isAll &&
        knownEventTypes.map((type) => (
          <Check
            key={type}
            checked={value.includes(type)}
            onChange={() => toggle(type)}
            hint={eventMeanings[type][language]}
          >
            <code>{type}</code>
          </Check>
        ))}
    </Group>
  )
}
