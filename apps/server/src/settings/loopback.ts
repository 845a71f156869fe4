/** Whether a value of `HOST` is an address of this machine alone. */
export const isLoopback = (host: string): boolean => /^(?:127\.|::1$|localhost$)/.test(host)
