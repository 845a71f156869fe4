import { lazy, Suspense } from "react"
import { Link, Route, Switch } from "wouter"
import type { Config } from "../../api/config.ts"
import { Plain } from "../../ui/Plain.tsx"
import { texts } from "../../text/texts.ts"
import { paths } from "../../url/paths.ts"
import { Login } from "./Login.tsx"

// Of a click or a mail: not part of the first load.
const Forgot = lazy(() => import("./Forgot.tsx"))
const Reset = lazy(() => import("./Reset.tsx"))
const SignUp = lazy(() => import("./SignUp.tsx"))

/** The page without a login. The address stays, so that the login leads to the screen that was asked for. */
export const Entrance = ({ config }: { readonly config: Config }) => (
  <Suspense fallback={null}>
    <Switch>
      <Route path={paths.signup}>
        {config.signup === "open" ? (
          <SignUp />
        ) : (
          <Plain
            title={texts.signup.title}
            sentence={texts.signup.closed}
            below={
              <p className="small">
                <Link to={paths.login}>{texts.signup.toLogin}</Link>
              </p>
            }
          />
        )}
      </Route>
      <Route path={paths.forgot}>
        {config.passwordReset ? (
          <Forgot />
        ) : (
          <Plain
            title={texts.forgot.title}
            sentence={texts.forgot.unavailable}
            below={
              <p className="small">
                <Link to={paths.login}>{texts.forgot.toLogin}</Link>
              </p>
            }
          />
        )}
      </Route>
      <Route path={paths.reset}>
        <Reset />
      </Route>
      <Route>
        <Login maySignUp={config.signup === "open"} />
      </Route>
    </Switch>
  </Suspense>
)
