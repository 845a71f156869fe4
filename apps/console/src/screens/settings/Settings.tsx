import { updateOrganization } from "@govoice/client"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { connection } from "../../api/connection.ts"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { Screen } from "../../ui/Screen.tsx"
import { texts } from "../../text/texts.ts"
import { Button } from "../../ui/Button.tsx"
import { Field } from "../../ui/Field.tsx"
import { Id } from "../../ui/Id.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { ProblemNotice } from "../../ui/Notice.tsx"
import { Facts, Panel } from "../../ui/Panel.tsx"
import { toast } from "../../ui/Toasts.tsx"
import { fieldErrors } from "../../ui/problems.ts"
import { textOf } from "../../ui/form.ts"

const Settings = () => {
  const { createdAt, id, name } = useCurrentOrganization()
  const queryClient = useQueryClient()
  const { error, isPending, mutate } = useMutation({
    mutationFn: (name: string) => updateOrganization(connection, id, { name }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ["organizations"], exact: true })
      toast(texts.saved)
    }
  })
  const errors = fieldErrors(error, ["name"])
  return (
    <Screen title={texts.nav.settings}>
      <div className="stack">
        <Panel title={texts.organization.title}>
          <form
            className="stack"
            onSubmit={(event) => {
              event.preventDefault()
              mutate(textOf(new FormData(event.currentTarget), "name").trim())
            }}
          >
            {errors.rest !== null && <ProblemNotice error={errors.rest} />}
            <Field
              label={texts.organization.name}
              name="name"
              required
              maxLength={200}
              defaultValue={name}
              error={errors.of("name")}
            />
            <div>
              <Button type="submit" busy={isPending}>
                {texts.save}
              </Button>
            </div>
          </form>
          <Facts
            entries={[
              [texts.id, <Id id={id} whole />],
              [texts.created, <Instant at={createdAt} whole />]
            ]}
          />
          <p className="small muted">{texts.organization.cannotDelete}</p>
        </Panel>
      </div>
    </Screen>
  )
}

export default Settings
