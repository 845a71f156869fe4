import { Link } from "wouter"
import { texts } from "../../text/texts.ts"
import { healthSearch, type HealthSearch } from "../../url/searches.ts"

/** Links to the other window of delivery counts, and to their other form. */
export const WindowLinks = ({ path, search }: { readonly path: string; readonly search: HealthSearch }) => {
  const to = (change: Partial<HealthSearch>) => `${path}${healthSearch.write({ ...search, ...change })}`
  return (
    <>
      <Link to={to({ window: search.window === "24h" ? "7d" : "24h" })} className="small">
        {search.window === "24h" ? texts.health.show7d : texts.health.show24h}
      </Link>
      <Link to={to({ as: search.as === "bars" ? "table" : "bars" })} className="small">
        {search.as === "bars" ? texts.health.asTable : texts.health.asBars}
      </Link>
    </>
  )
}
