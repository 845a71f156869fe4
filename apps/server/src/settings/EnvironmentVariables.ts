/** The environment variables of a process. `Environment` is the environment of KSeF. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>
