/** The flags that every command has. */
import { CliConfig, GlobalFlag } from "effect/cli"

/** Layer that provides them. */
export const builtIns = CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })
