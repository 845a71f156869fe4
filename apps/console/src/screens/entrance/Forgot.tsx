import { useMutation } from "@tanstack/react-query"
import { Link } from "wouter"
import { requestReset } from "../../session/routes.ts"
import { texts } from "../../text/texts.ts"
import { Button } from "../../ui/Button.tsx"
import { Field } from "../../ui/Field.tsx"
import { textOf } from "../../ui/form.ts"
import { ProblemNotice } from "../../ui/Notice.tsx"
import { Plain } from "../../ui/Plain.tsx"
import { paths } from "../../url/paths.ts"

const below = (
  <p className="small">
    <Link to={paths.login}>{texts.forgot.toLogin}</Link>
  </p>
)

/** Asks for a mail with a link that resets the password. It does not tell whether an account has the email. */
const Forgot = () => {
  const { error, isPending, isSuccess, mutate } = useMutation({ mutationFn: requestReset, gcTime: 0 })
  if (isSuccess) return <Plain title={texts.forgot.sentTitle} sentence={texts.forgot.sent} below={below} />
  return (
    <Plain title={texts.forgot.title} sentence={texts.forgot.meaning} below={below}>
      {error !== null && <ProblemNotice error={error} />}
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          const email = textOf(new FormData(event.currentTarget), "email")
          mutate({ email, language: document.documentElement.lang === "pl" ? "pl" : "en" })
        }}
      >
        <Field label={texts.login.email} name="email" type="email" autoComplete="username" required autoFocus />
        <Button type="submit" kind="primary" busy={isPending}>
          {isPending ? texts.forgot.busy : texts.forgot.submit}
        </Button>
      </form>
    </Plain>
  )
}

export default Forgot
