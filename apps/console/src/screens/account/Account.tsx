import { changePassword, logoutAll } from "@govoice/client"
import { useMutation, useQuery } from "@tanstack/react-query"
import type { FormEvent } from "react"
import { connection } from "../../api/connection.ts"
import { accountQuery } from "../../api/queries.ts"
import { setPreference, usePreference } from "../../ui/preferences.ts"
import { Screen } from "../../ui/Screen.tsx"
import { problemOf } from "../../session/problem.ts"
import { clearSession, logout } from "../../session/session.ts"
import { en } from "../../text/en.ts"
import { Button } from "../../ui/Button.tsx"
import { Check, Field, Select } from "../../ui/Field.tsx"
import { Id } from "../../ui/Id.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { Notice, ProblemNotice } from "../../ui/Notice.tsx"
import { Facts, Panel } from "../../ui/Panel.tsx"
import { toast } from "../../ui/Toasts.tsx"
import { textOf } from "../../ui/form.ts"
import { useFaultFocus } from "../../ui/useFaultFocus.ts"

const Identity = () => (
  <Panel title={en.account.title}>
    <Loaded query={useQuery(accountQuery)}>
      {({ email, id }) => (
        <Facts
          entries={[
            [en.login.email, email],
            [en.id, <Id id={id} whole />]
          ]}
        />
      )}
    </Loaded>
  </Panel>
)

const Password = () => {
  const { error, isPending, mutate } = useMutation({
    mutationFn: (input: { readonly currentPassword: string; readonly newPassword: string }) =>
      changePassword(connection, input),
    gcTime: 0
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const element = event.currentTarget
    const form = new FormData(element)
    mutate(
      { currentPassword: textOf(form, "current"), newPassword: textOf(form, "new") },
      {
        onSuccess: () => {
          element.reset()
          toast(en.account.passwordChanged)
        }
      }
    )
  }
  const isWrong = error !== null && problemOf(error).code === "invalid_credentials"
  const form = useFaultFocus(error)
  return (
    <Panel title={en.account.password}>
      <form ref={form} className="stack" onSubmit={submit}>
        {error !== null && !isWrong && <ProblemNotice error={error} />}
        {isWrong && (
          <Notice tone="bad" role="alert">
            <p>{en.account.wrongPassword}</p>
          </Notice>
        )}
        <Field
          label={en.account.currentPassword}
          name="current"
          type="password"
          autoComplete="current-password"
          required
          error={isWrong ? en.account.wrongPassword : undefined}
        />
        <Field
          label={en.account.newPassword}
          name="new"
          type="password"
          autoComplete="new-password"
          required
          minLength={12}
          maxLength={128}
          hint={en.account.passwordHint}
        />
        <div>
          <Button type="submit" busy={isPending}>
            {en.account.changePassword}
          </Button>
        </div>
      </form>
    </Panel>
  )
}

const Logins = () => {
  const here = useMutation({ mutationFn: logout })
  const everywhere = useMutation({ mutationFn: () => logoutAll(connection), onSuccess: clearSession })
  const error = here.error ?? everywhere.error
  return (
    <Panel title={en.account.logins}>
      {error !== null && <ProblemNotice error={error} />}
      <p className="muted">{en.account.loginsMeaning}</p>
      <div className="line">
        <Button busy={here.isPending} onClick={() => here.mutate()}>
          {en.account.logoutHere}
        </Button>
        <Button busy={everywhere.isPending} onClick={() => everywhere.mutate()}>
          {en.account.logoutEverywhere}
        </Button>
      </div>
    </Panel>
  )
}

const Preferences = () => {
  const theme = usePreference("theme")
  const density = usePreference("density")
  const timeZone = usePreference("timeZone")
  const shortcuts = usePreference("shortcuts")
  return (
    <Panel title={en.account.preferences}>
      <p className="muted">{en.account.preferencesMeaning}</p>
      <Select
        label={en.account.theme}
        value={theme}
        onChange={(event) => setPreference("theme", event.target.value as typeof theme)}
      >
        <option value="system">{en.theme.system}</option>
        <option value="light">{en.theme.light}</option>
        <option value="dark">{en.theme.dark}</option>
      </Select>
      <Select
        label={en.account.density}
        value={density}
        onChange={(event) => setPreference("density", event.target.value as typeof density)}
      >
        <option value="dense">{en.account.dense}</option>
        <option value="comfortable">{en.account.comfortable}</option>
      </Select>
      <Select
        label={en.account.timeZone}
        value={timeZone}
        onChange={(event) => setPreference("timeZone", event.target.value as typeof timeZone)}
      >
        <option value="local">{en.account.local(Intl.DateTimeFormat().resolvedOptions().timeZone)}</option>
        <option value="utc">UTC</option>
      </Select>
      <Check
        checked={shortcuts === "on"}
        onChange={(event) => setPreference("shortcuts", event.target.checked ? "on" : "off")}
      >
        {en.keys.single}
      </Check>
    </Panel>
  )
}

const Account = () => (
  <Screen title={en.nav.accountSettings}>
    <div className="stack">
      <Identity />
      <Password />
      <Logins />
      <Preferences />
    </div>
  </Screen>
)

export default Account
