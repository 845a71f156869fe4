import { createOrganization } from "@govoice/client"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useLocation } from "wouter"
import { connection } from "../../api/connection.ts"
import { Screen } from "../../ui/Screen.tsx"
import { texts } from "../../text/texts.ts"
import { Button } from "../../ui/Button.tsx"
import { Field } from "../../ui/Field.tsx"
import { ProblemNotice } from "../../ui/Notice.tsx"
import { paths } from "../../url/paths.ts"
import { fieldErrors } from "../../ui/problems.ts"
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
  const errors = fieldErrors(error, ["name"])
  const form = useFaultFocus(error)
  return (
    <Screen title={texts.organization.create}>
      <form
        ref={form}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          mutate(textOf(new FormData(event.currentTarget), "name").trim())
        }}
      >
        <p className="muted">{texts.organization.meaning}</p>
        {errors.rest !== null && <ProblemNotice error={errors.rest} />}
        <Field
          label={texts.organization.name}
          name="name"
          required
          maxLength={200}
          autoComplete="organization"
          hint={texts.organization.nameHint}
          error={errors.of("name")}
        />
        <div>
          <Button type="submit" kind="primary" busy={isPending}>
            {texts.organization.submit}
          </Button>
        </div>
      </form>
    </Screen>
  )
}

export default NewOrganization
