/** Throws in the process on SIGUSR2, where nothing catches it. */
process.on("SIGUSR2", () => {
  setImmediate(() => {
    throw new Error("a fault of the test")
  })
})
