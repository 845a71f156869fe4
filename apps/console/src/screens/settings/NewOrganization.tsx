import { createOrganization } from "@govoice/client"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useLocation } from "wouter"
import { connection } from "../../api/connection.ts"
import { Screen } from "../../ui/Screen.tsx"
import { problemOf } from "../../session/problem.ts"
import { en } from "../../text/en.ts"
import { Button } from "../../ui/Button.tsx"
import { Field } from "../../ui/Field.tsx"
import { ProblemNotice } from "../../ui/Notice.tsx"
import { paths } from "../../url/paths.ts"
import { textOf } from "../../ui/form.ts"
import { useFaultFocus } from "../../ui/useFaultFocus.ts"

const NewOrganization = () => {
  const queryClient = useQueryClient()
  const [, navigate] = useLocation()
  const { error, isPending, mutate } = useMutation({
    mutationFn: (name: string) => createOrganization(connection, { name }),
    onSuccess: async ({ id }) => {
      await queryClient.invalidateQueries({ queryKey: ["organizations"], exact: true })
      navigate(paths.overview(id))
    }
  })
  const form = useFaultFocus(error)
  return (
    <Screen title={en.organization.create}>
      <form
        ref={form}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          mutate(textOf(new FormData(event.currentTarget), "name").trim())
        }}
      >
        <p className="muted">{en.organization.meaning}</p>
        {error !== null && <ProblemNotice error={error} />}
        <Field
          label={en.organization.name}
          name="name"
          required
          maxLength={200}
          autoComplete="organization"
          hint={en.organization.nameHint}
          error={error !== null && problemOf(error).param === "name" ? problemOf(error).message : undefined}
        />
        <div>
          <Button type="submit" kind="primary" busy={isPending}>
            {en.organization.submit}
          </Button>
        </div>
      </form>
    </Screen>
  )
}

export default NewOrganization
