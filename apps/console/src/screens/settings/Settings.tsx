import { updateOrganization } from "@govoice/client"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { connection } from "../../api/connection.ts"
import { useCurrentOrganization } from "../../ui/organization.ts"
import { Screen } from "../../ui/Screen.tsx"
import { en } from "../../text/en.ts"
import { Button } from "../../ui/Button.tsx"
import { Field } from "../../ui/Field.tsx"
import { Id } from "../../ui/Id.tsx"
import { Instant } from "../../ui/Instant.tsx"
import { ProblemNotice } from "../../ui/Notice.tsx"
import { Facts, Panel } from "../../ui/Panel.tsx"
import { toast } from "../../ui/Toasts.tsx"
import { textOf } from "../../ui/form.ts"

const Settings = () => {
  const { createdAt, id, name } = useCurrentOrganization()
  const queryClient = useQueryClient()
  const { error, isPending, mutate } = useMutation({
    mutationFn: (name: string) => updateOrganization(connection, id, { name }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ["organizations"], exact: true })
      toast(en.saved)
    }
  })
  return (
    <Screen title={en.nav.settings}>
      <div className="stack">
        <Panel title={en.organization.title}>
          <form
            className="stack"
            onSubmit={(event) => {
              event.preventDefault()
              mutate(textOf(new FormData(event.currentTarget), "name").trim())
            }}
          >
            {error !== null && <ProblemNotice error={error} />}
            <Field label={en.organization.name} name="name" required maxLength={200} defaultValue={name} />
            <div>
              <Button type="submit" busy={isPending}>
                {en.save}
              </Button>
            </div>
          </form>
          <Facts
            entries={[
              [en.id, <Id id={id} whole />],
              [en.created, <Instant at={createdAt} whole />]
            ]}
          />
          <p className="small muted">{en.organization.cannotDelete}</p>
        </Panel>
      </div>
    </Screen>
  )
}

export default Settings
