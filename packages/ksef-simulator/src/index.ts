/**
 * A local KSeF 2.0 to test any client against: it decrypts, verifies, limits, judges and fails.
 *
 * @module
 */
export type { BeaconStatus } from "./control/Beacon.ts"
export type { Fault, FaultAction, FaultName, FaultPoint, FaultSelector } from "./faults/Fault.ts"
export type { FaultState, SimulatorFaults } from "./faults/Faults.ts"
export type { CertificateRequest, IssuedCertificate } from "./keys/Authority.ts"
export type { AcceptedInvoice, SimulatorLedger } from "./ledger/Ledger.ts"
export type { OperationName, OutsideOperationName } from "./openapi/operations.ts"
export type { SimulatorOptions } from "./options.ts"
export { type IssueTokenRequest, type Simulator, startSimulator } from "./startSimulator.ts"
export type { LedgerCall, Permission, Subject } from "./state/records.ts"
export type { SimulatorClock } from "./time/Clock.ts"
