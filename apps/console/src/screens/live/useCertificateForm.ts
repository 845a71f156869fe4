import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { fieldErrors } from "../../ui/problems.ts"
import { toast } from "../../ui/Toasts.tsx"
import { useFaultFocus } from "../../ui/useFaultFocus.ts"
import { FileFault, type PickedFile } from "./CertificateFields.tsx"

/** The state of a form that can store a certificate: the file that was picked, the request, and its faults. */
export const useCertificateForm = ({
  onDone,
  store,
  stored
}: {
  readonly store: (form: FormData, picked: PickedFile) => Promise<void>
  /** What is said when it is stored. */
  readonly stored: string
  readonly onDone: () => void
}) => {
  const queryClient = useQueryClient()
  const [picked, setPicked] = useState<PickedFile>(undefined)
  const [submissions, setSubmissions] = useState(0)
  const { error, isPending, mutate } = useMutation({
    mutationFn: (form: FormData) => store(form, picked),
    gcTime: 0,
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ["organizations"] })
      toast(stored)
      onDone()
    }
  })
  const errors = fieldErrors(error, ["context", "token", "certificate", "private_key", "private_key_password"])
  const fileFault = error instanceof FileFault ? error.message : undefined
  return {
    form: useFaultFocus(submissions, error),
    submissions,
    /** Counts a submission, whether or not it is sent. */
    count: () => setSubmissions(submissions + 1),
    isPending,
    send: mutate,
    errorOf: errors.of,
    /** The error that belongs to no field. */
    problem: fileFault === undefined ? errors.rest : null,
    /** For `CertificateFields`. */
    fields: { errorOf: errors.of, fileFault, picked, onPick: setPicked }
  }
}
