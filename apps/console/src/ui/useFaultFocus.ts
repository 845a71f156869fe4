import { type RefObject, useEffect, useRef } from "react"

/**
 * Moves the focus to the first field with a fault when a form was refused, so that its error is read out. `refusal` changes with
 * each refusal: the error of the server, or the number of submissions that the form refused itself.
 */
export const useFaultFocus = (...refusals: ReadonlyArray<unknown>): RefObject<HTMLFormElement | null> => {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus(), refusals)
  return form
}
