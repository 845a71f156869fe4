import { useMutation } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import { Link } from "wouter"
import { problemOf } from "../../session/problem.ts"
import { resetPassword } from "../../session/routes.ts"
import { texts } from "../../text/texts.ts"
import { Button } from "../../ui/Button.tsx"
import { Field } from "../../ui/Field.tsx"
import { textOf } from "../../ui/form.ts"
import { ProblemNotice } from "../../ui/Notice.tsx"
import { Plain } from "../../ui/Plain.tsx"
import { paths } from "../../url/paths.ts"

const toLogin = (
  <p className="small">
    <Link to={paths.login}>{texts.reset.toLogin}</Link>
  </p>
)

/** Replaces the password by the token of a link, which leaves the address at once. */
const Reset = () => {
  const [token] = useState(() => location.hash.slice(1))
  useEffect(() => history.replaceState(history.state, "", location.pathname), [])
  const { error, isPending, isSuccess, mutate } = useMutation({ mutationFn: resetPassword, gcTime: 0 })
  const { code, param } = problemOf(error)
  if (isSuccess) return <Plain title={texts.reset.doneTitle} sentence={texts.reset.done} below={toLogin} />
  if (token === "" || (code === "invalid_parameter" && param === "token"))
    return (
      <Plain title={texts.reset.title} sentence={texts.reset.invalid}>
        <Link to={paths.forgot}>{texts.reset.again}</Link>
      </Plain>
    )
  return (
    <Plain title={texts.reset.title} sentence={texts.reset.meaning} below={toLogin}>
      {error !== null && <ProblemNotice error={error} />}
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          mutate({ token, password: textOf(new FormData(event.currentTarget), "password") })
        }}
      >
        <Field
          label={texts.reset.password}
          name="password"
          type="password"
          autoComplete="new-password"
          required
          autoFocus
          minLength={12}
          maxLength={128}
          hint={texts.signup.passwordHint}
        />
        <Button type="submit" kind="primary" busy={isPending}>
          {isPending ? texts.reset.busy : texts.reset.submit}
        </Button>
      </form>
    </Plain>
  )
}

export default Reset
