/**
 * The state that the parts of a running simulator share.
 */
import type { Challenges } from "./auth/Challenges.ts"
import type { Jwt } from "./auth/Jwt.ts"
import type { Beacon } from "./control/Beacon.ts"
import type { Processing } from "./documents/Processing.ts"
import type { Xml } from "./documents/Xml.ts"
import type { Faults } from "./faults/Faults.ts"
import type { Authority } from "./keys/Authority.ts"
import type { EncryptionKeys } from "./keys/EncryptionKeys.ts"
import type { Ledger } from "./ledger/Ledger.ts"
import type { Limits } from "./limits/Limits.ts"
import type { ResolvedOptions } from "./options.ts"
import type { Links } from "./server/Links.ts"
import type { State } from "./state/State.ts"
import type { Clock } from "./time/Clock.ts"
import type { UpoSigner } from "./upo/UpoSigner.ts"

/** The parts of one simulator. */
export interface Simulation {
  readonly options: ResolvedOptions
  readonly clock: Clock
  readonly state: State
  readonly authority: Authority
  readonly keys: EncryptionKeys
  readonly challenges: Challenges
  readonly jwt: Jwt
  readonly limits: Limits
  readonly faults: Faults
  readonly ledger: Ledger
  readonly beacon: Beacon
  readonly links: Links
  readonly processing: Processing
  readonly upoSigner: UpoSigner
  /** Aborted when the simulator ends. */
  readonly ending: AbortSignal
  /** The XML library, which is loaded after the server has begun to listen. */
  readonly xml: () => Promise<Xml>
}
