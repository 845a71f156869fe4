/** What the statements about publications and subscriptions of Postgres share. */

/** The condition for rows of `pg_subscription`, which has those of all databases of a server. */
export const ofThisDatabase = "subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())"

/** Writes a text as a literal, for the commands that take no parameters. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`
