/**
 * The note beside each command that installs a package: before the first release, no registry has the packages. The note is
 * empty from the release on.
 */
import { readFileSync } from "node:fs"

const { version } = JSON.parse(readFileSync(new URL("../packages/client/package.json", import.meta.url), "utf8")) as {
  readonly version: string
}

/** Returns the note for the packages that a command installs, `""` once they are released. */
export const noteFor = (
  packages: ReadonlyArray<string>,
  {
    isPolish = false,
    released = version !== "0.0.0"
  }: { readonly isPolish?: boolean; readonly released?: boolean } = {}
): string => {
  if (released) return ""
  const [first] = packages
  // Without `file:`, npx takes the path for a command.
  const tarball = `file:<checkout>/tarballs/${first!.replace("@", "").replace("/", "-")}-${version}.tgz`
  const rest = packages.length === 1 ? { en: "", pl: "" } : { en: ", and so on", pl: ", i tak dalej" }
  if (isPolish) {
    return [
      "> Do pierwszego wydania w rejestrze npm nie ma pakietów: uruchom `npx -y pnpm@12 run pack` w kopii repozytorium",
      `> i zamiast \`${first!}\` napisz \`${tarball.replace("<checkout>", "<repozytorium>")}\`${rest.pl}.`
    ].join("\n")
  }
  return [
    "> Not released yet: run `npx -y pnpm@12 run pack` in a checkout,",
    `> and write \`${tarball}\` for \`${first!}\`${rest.en}.`
  ].join("\n")
}

/** The pages with a command that installs packages, relative to `docs/`, and the packages. */
export const installs: Readonly<Record<string, ReadonlyArray<string>>> = {
  "guides/checking-invoices.md": ["@govoice/server"],
  "guides/migrating.md": ["@govoice/client", "@govoice/webhooks"],
  "guides/embedders.md": ["@govoice/dispatcher"],
  "contents/Home.md": ["@govoice/server", "@govoice/client"],
  "guides/integrators.md": ["@govoice/server", "@govoice/client"],
  "guides/integrators-pl.md": ["@govoice/server", "@govoice/client"],
  "guides/operators.md": ["@govoice/server"],
  "guides/receivers.md": ["@govoice/webhooks", "@govoice/server"],
  "../apps/server/README.md": ["@govoice/server"],
  "../packages/client/README.md": ["@govoice/client"],
  "../packages/core/README.md": ["@govoice/core"],
  "../packages/dispatcher/README.md": ["@govoice/dispatcher"],
  "../packages/ksef-simulator/README.md": ["@govoice/ksef-simulator"]
}
