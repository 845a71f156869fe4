/** How long a test waits for something that has to happen. A busy machine is slow; less than the time limit of tests, so that it can say for what. */
export const patienceMs = 500_000
