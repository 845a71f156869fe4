/**
 * The documentation site has every module that the `exports` of a package name, under its import path.
 */
import { readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { Converter, ReflectionKind } from "typedoc"

/** Returns the modules of a package as `[path, file]`. An export without a source is not a module. */
const modules = (folder) => {
  const { exports, name } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  return Object.entries(exports).flatMap(([path, { source }]) =>
    source === undefined ? [] : [[join(name, path), join(folder, source)]]
  )
}

const reader = {
  name: "exports",
  order: 0,
  supportsPackages: true,
  read: (options, _logger, folder) => {
    if (options.packageDir === undefined) return
    options.setValue(
      "entryPoints",
      modules(folder).map(([, file]) => file),
      folder
    )
  }
}

// TypeDoc names a module after its file. The root entry is the page of the package.
const nameByPath = (project, folder) => {
  const paths = new Map(modules(folder).map(([path, file]) => [basename(file, ".ts"), path]))
  for (const module of project.getChildrenByKind(ReflectionKind.Module)) {
    const path = paths.get(module.name)
    if (path === project.packageName) {
      project.comment ??= module.comment
      project.mergeReflections(module, project)
    } else if (path !== undefined) module.name = path
  }
}

export const load = (app) => {
  app.options.addReader(reader)
  const afterThePackageIsNamed = -100
  app.converter.on(
    Converter.EVENT_RESOLVE_BEGIN,
    ({ project }) => nameByPath(project, app.options.packageDir),
    afterThePackageIsNamed
  )
}
