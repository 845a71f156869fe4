/**
 * The code that a fault gives a session when it is closed.
 */
import type { Simulation } from "../Simulation.ts"
import type { Session, Status } from "../state/records.ts"

/** Returns the failure of a session that is closed now, if a fault asks for one. */
export const closeFailure = ({ faults }: Simulation, { context }: Session): Status | null => {
  const fault = faults.take({ point: "session", context })?.fault
  if (fault?.do !== "verdict") return null
  return { code: fault.code, ...(fault.details === undefined ? {} : { details: fault.details }) }
}
