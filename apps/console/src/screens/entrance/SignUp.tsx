import { createAccount } from "@govoice/client"
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { Link } from "wouter"
import { connection } from "../../api/connection.ts"
import { Plain } from "../../ui/Plain.tsx"
import { en } from "../../text/en.ts"
import { Button } from "../../ui/Button.tsx"
import { Field } from "../../ui/Field.tsx"
import { ProblemNotice } from "../../ui/Notice.tsx"
import { paths } from "../../url/paths.ts"
import { problemOf } from "../../session/problem.ts"
import { login } from "../../session/session.ts"
import { textOf } from "../../ui/form.ts"

const leastPassword = 12

/** Creates an account and logs in to it. */
export const SignUp = () => {
  const [length, setLength] = useState(0)
  const { error, isPending, mutate } = useMutation({
    mutationFn: async (input: { readonly email: string; readonly password: string }) => {
      await createAccount(connection, input)
      // Leads to the first screen, which makes an organization. An error stays on this page.
      await login({ ...input, remember: true })
    },
    gcTime: 0
  })
  const param = error === null ? undefined : problemOf(error).param
  const fieldError = (name: string) => (param === name ? problemOf(error).message : undefined)
  return (
    <Plain
      title={en.signup.title}
      below={
        <p className="small muted">
          {en.signup.hasAccount} <Link to={paths.login}>{en.signup.toLogin}</Link>
        </p>
      }
    >
      {error !== null && <ProblemNotice error={error} />}
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          const form = new FormData(event.currentTarget)
          mutate({ email: textOf(form, "email"), password: textOf(form, "password") })
        }}
      >
        <Field
          label={en.login.email}
          name="email"
          type="email"
          autoComplete="username"
          required
          autoFocus
          error={fieldError("email")}
        />
        <Field
          label={en.login.password}
          name="password"
          type="password"
          autoComplete="new-password"
          required
          minLength={leastPassword}
          maxLength={128}
          hint={length < leastPassword ? en.signup.passwordHint : en.signup.passwordEnough}
          error={fieldError("password")}
          onChange={(event) => setLength(event.target.value.length)}
        />
        <Button type="submit" kind="primary" busy={isPending}>
          {isPending ? en.signup.busy : en.signup.submit}
        </Button>
      </form>
    </Plain>
  )
}
