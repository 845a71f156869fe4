import type { Download as File } from "@govoice/client"
import { useMutation } from "@tanstack/react-query"
import { Button } from "../../ui/Button.tsx"
import { ProblemNotice } from "../../ui/Notice.tsx"

const types: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  xml: "application/xml",
  svg: "image/svg+xml",
  png: "image/png"
}

/** Saves bytes as a file, through a link that exists for the time of the click. */
const save = (bytes: Uint8Array<ArrayBuffer>, name: string): void => {
  const type = types[name.slice(name.lastIndexOf(".") + 1)]!
  const url = URL.createObjectURL(new Blob([bytes], { type }))
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

/** A button that reads a file and saves it under a name. */
export const Download = ({
  label,
  name,
  read
}: {
  readonly label: string
  readonly name: string
  readonly read: () => Promise<File>
}) => {
  const { error, isPending, mutate } = useMutation({
    mutationFn: async () => save(await (await read()).bytes(), name)
  })
  return (
    <>
      <Button icon="download" busy={isPending} onClick={() => mutate()}>
        {label}
      </Button>
      {error !== null && <ProblemNotice error={error} onRetry={() => mutate()} />}
    </>
  )
}
