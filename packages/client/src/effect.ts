/** The Effect face. @module */
export * from "./index.ts"
