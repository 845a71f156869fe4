import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { Link } from "wouter"
import { Plain } from "../../ui/Plain.tsx"
import { texts } from "../../text/texts.ts"
import { Button } from "../../ui/Button.tsx"
import { Check, Field } from "../../ui/Field.tsx"
import { ProblemNotice } from "../../ui/Notice.tsx"
import { paths } from "../../url/paths.ts"
import { login } from "../../session/session.ts"
import { textOf } from "../../ui/form.ts"

/** Logs in. The password goes into the request and nowhere else. */
export const Login = ({ maySignUp }: { readonly maySignUp: boolean }) => {
  const [remember, setRemember] = useState(true)
  const { error, isPending, mutate } = useMutation({ mutationFn: login, gcTime: 0 })
  return (
    <Plain
      title={texts.login.title}
      below={
        <p className="small muted">
          <Link to={paths.forgot}>{texts.login.toForgot}</Link>
          <br />
          {maySignUp ? (
            <>
              {texts.login.noAccount} <Link to={paths.signup}>{texts.login.toSignUp}</Link>
            </>
          ) : (
            texts.login.signUpClosed
          )}
        </p>
      }
    >
      {error !== null && <ProblemNotice error={error} />}
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          const form = new FormData(event.currentTarget)
          mutate({ email: textOf(form, "email"), password: textOf(form, "password"), remember })
        }}
      >
        <Field label={texts.login.email} name="email" type="email" autoComplete="username" required autoFocus />
        <Field label={texts.login.password} name="password" type="password" autoComplete="current-password" required />
        <Check checked={remember} onChange={(event) => setRemember(event.target.checked)}>
          {texts.login.remember}
        </Check>
        <Button type="submit" kind="primary" busy={isPending}>
          {isPending ? texts.login.busy : texts.login.submit}
        </Button>
      </form>
    </Plain>
  )
}
