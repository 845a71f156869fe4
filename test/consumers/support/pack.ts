/**
 * Packs the packages that users install into their own projects.
 */
import { setup } from "../../packaging/support/pack.ts"

export default setup(["core", "api", "webhooks", "client"].map((name) => `packages/${name}`))
