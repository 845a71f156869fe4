import { Component, type ReactNode } from "react"
import { texts } from "../text/texts.ts"
import { Button } from "../ui/Button.tsx"
import { Notice } from "../ui/Notice.tsx"

/** Shows a defect of the page in place of a blank screen. */
export class Failure extends Component<
  { readonly children: ReactNode; readonly screen: string },
  { readonly error?: unknown }
> {
  override state: { readonly error?: unknown; readonly screen?: string } = {}

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  // Another screen is another attempt.
  static getDerivedStateFromProps({ screen }: { readonly screen: string }, state: { readonly screen?: string }) {
    return state.screen === screen ? null : { screen, error: undefined }
  }

  override render() {
    if (this.state.error === undefined) return this.props.children
    return (
      <Notice tone="bad" role="alert">
        <h1 className="strong">{texts.failure.title}</h1>
        <p>{texts.failure.sentence}</p>
        <div>
          <Button size="small" icon="retry" onClick={() => location.reload()}>
            {texts.failure.reload}
          </Button>
        </div>
      </Notice>
    )
  }
}
