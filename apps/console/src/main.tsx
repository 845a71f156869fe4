/**
 * Starts the page.
 */
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { App } from "./app/App.tsx"
import "./styles/typeface.css"
import "./styles/tokens.css"
import "./styles/base.css"
import "./styles/layout.css"
import "./styles/print.css"

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <App />
  </StrictMode>
)
