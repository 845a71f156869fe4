import { changePassword, logoutAll } from "@govoice/client"
import { useMutation, useQuery } from "@tanstack/react-query"
import type { FormEvent } from "react"
import { connection } from "../../api/connection.ts"
import { accountQuery } from "../../api/queries.ts"
import { setPreference, usePreference } from "../../ui/preferences.ts"
import { Screen } from "../../ui/Screen.tsx"
import { problemOf } from "../../session/problem.ts"
import { clearSession, logout } from "../../session/session.ts"
import { texts } from "../../text/texts.ts"
import { Button } from "../../ui/Button.tsx"
import { Check, Field, Select } from "../../ui/Field.tsx"
import { Id } from "../../ui/Id.tsx"
import { Loaded } from "../../ui/Loaded.tsx"
import { ProblemNotice } from "../../ui/Notice.tsx"
import { Facts, Panel } from "../../ui/Panel.tsx"
import { toast } from "../../ui/Toasts.tsx"
import { fieldErrors } from "../../ui/problems.ts"
import { textOf } from "../../ui/form.ts"
import { useFaultFocus } from "../../ui/useFaultFocus.ts"

const Identity = () => (
  <Panel title={texts.account.title}>
    <Loaded query={useQuery(accountQuery)}>
      {({ email, id }) => (
        <Facts
          entries={[
            [texts.login.email, email],
            [texts.id, <Id id={id} whole />]
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
          toast(texts.account.passwordChanged)
        }
      }
    )
  }
  const isWrong = error !== null && problemOf(error).code === "invalid_credentials"
  const errors = fieldErrors(error, ["new_password"])
  const form = useFaultFocus(error)
  return (
    <Panel title={texts.account.password}>
      <form ref={form} className="stack" onSubmit={submit}>
        {!isWrong && errors.rest !== null && <ProblemNotice error={errors.rest} />}
        <Field
          label={texts.account.currentPassword}
          name="current"
          type="password"
          autoComplete="current-password"
          required
          error={isWrong ? texts.account.wrongPassword : undefined}
        />
        <Field
          label={texts.account.newPassword}
          name="new"
          type="password"
          autoComplete="new-password"
          required
          minLength={12}
          maxLength={128}
          hint={texts.account.passwordHint}
          error={errors.of("new_password")}
        />
        <div>
          <Button type="submit" busy={isPending}>
            {texts.account.changePassword}
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
    <Panel title={texts.account.logins}>
      {error !== null && <ProblemNotice error={error} />}
      <p className="muted">{texts.account.loginsMeaning}</p>
      <div className="line">
        <Button busy={here.isPending} onClick={() => here.mutate()}>
          {texts.account.logoutHere}
        </Button>
        <Button busy={everywhere.isPending} onClick={() => everywhere.mutate()}>
          {texts.account.logoutEverywhere}
        </Button>
      </div>
    </Panel>
  )
}

const Preferences = () => {
  const language = usePreference("language")
  const theme = usePreference("theme")
  const density = usePreference("density")
  const timeZone = usePreference("timeZone")
  const shortcuts = usePreference("shortcuts")
  return (
    <Panel title={texts.account.preferences}>
      <p className="muted">{texts.account.preferencesMeaning}</p>
      <Select
        label={texts.account.language}
        value={language}
        onChange={(event) => {
          setPreference("language", event.target.value as typeof language)
          // Texts are chosen when the page loads.
          location.reload()
        }}
      >
        {(["browser", "en", "pl"] as const).map((name) => (
          <option key={name} value={name} lang={name === "browser" ? undefined : name}>
            {texts.account.languages[name]}
          </option>
        ))}
      </Select>
      <Select
        label={texts.account.theme}
        value={theme}
        onChange={(event) => setPreference("theme", event.target.value as typeof theme)}
      >
        <option value="system">{texts.theme.system}</option>
        <option value="light">{texts.theme.light}</option>
        <option value="dark">{texts.theme.dark}</option>
      </Select>
      <Select
        label={texts.account.density}
        value={density}
        onChange={(event) => setPreference("density", event.target.value as typeof density)}
      >
        <option value="dense">{texts.account.dense}</option>
        <option value="comfortable">{texts.account.comfortable}</option>
      </Select>
      <Select
        label={texts.account.timeZone}
        value={timeZone}
        onChange={(event) => setPreference("timeZone", event.target.value as typeof timeZone)}
      >
        <option value="local">{texts.account.local(Intl.DateTimeFormat().resolvedOptions().timeZone)}</option>
        <option value="utc">UTC</option>
      </Select>
      <Check
        checked={shortcuts === "on"}
        onChange={(event) => setPreference("shortcuts", event.target.checked ? "on" : "off")}
      >
        {texts.keys.single}
      </Check>
    </Panel>
  )
}

const Account = () => (
  <Screen title={texts.nav.accountSettings}>
    <div className="stack">
      <Identity />
      <Password />
      <Logins />
      <Preferences />
    </div>
  </Screen>
)

export default Account
