/** The type of an event. Where there is little room, it breaks after its first word. */
export const EventType = ({ type }: { readonly type: string }) => {
  const [subject, ...rest] = type.split(".")
  return (
    <span>
      {subject}.<wbr />
      {rest.join(".")}
    </span>
  )
}
