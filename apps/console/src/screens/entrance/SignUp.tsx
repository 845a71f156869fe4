import { createAccount } from "@govoice/client"
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { Link } from "wouter"
import { connection } from "../../api/connection.ts"
import { Plain } from "../../ui/Plain.tsx"
import { texts } from "../../text/texts.ts"
import { Button } from "../../ui/Button.tsx"
import { Field } from "../../ui/Field.tsx"
import { ProblemNotice } from "../../ui/Notice.tsx"
import { paths } from "../../url/paths.ts"
import { login } from "../../session/session.ts"
import { fieldErrors } from "../../ui/problems.ts"
import { textOf } from "../../ui/form.ts"

const leastPassword = 12

/** Creates an account and logs in to it. */
const SignUp = () => {
  const [length, setLength] = useState(0)
  const { error, isPending, mutate } = useMutation({
    mutationFn: async (input: { readonly email: string; readonly password: string }) => {
      await createAccount(connection, input)
      // Leads to the first screen, which makes an organization. An error stays on this page.
      await login({ ...input, remember: true })
    },
    gcTime: 0
  })
  const errors = fieldErrors(error, ["email", "password"])
  return (
    <Plain
      title={texts.signup.title}
      below={
        <p className="small muted">
          {texts.signup.hasAccount} <Link to={paths.login}>{texts.signup.toLogin}</Link>
        </p>
      }
    >
      {errors.rest !== null && <ProblemNotice error={errors.rest} />}
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          const form = new FormData(event.currentTarget)
          mutate({ email: textOf(form, "email"), password: textOf(form, "password") })
        }}
      >
        <Field
          label={texts.login.email}
          name="email"
          type="email"
          autoComplete="username"
          required
          autoFocus
          error={errors.of("email")}
        />
        <Field
          label={texts.login.password}
          name="password"
          type="password"
          autoComplete="new-password"
          required
          minLength={leastPassword}
          maxLength={128}
          hint={length < leastPassword ? texts.signup.passwordHint : texts.signup.passwordEnough}
          error={errors.of("password")}
          onChange={(event) => setLength(event.target.value.length)}
        />
        <Button type="submit" kind="primary" busy={isPending}>
          {isPending ? texts.signup.busy : texts.signup.submit}
        </Button>
      </form>
    </Plain>
  )
}

export default SignUp
