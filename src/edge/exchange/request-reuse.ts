// What the next request of a connection reuses.

import type { AiFields } from '../ai-call/request-fields.ts'
import type { FieldId } from '../../http1/fields/fields.ts'
import type { ProviderLines } from '../ai-call/outbound-call.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import type { Admission } from '../gates/gate.ts'
import type { Gate } from '../gates/gates.ts'
import type { Origin } from '../origin/origin.ts'
import type { OutboundRequest } from '../origin/outbound-head.ts'
import type { Plane } from '../snapshot/plane.ts'
import type { EdgeRoute } from '../snapshot/snapshot.ts'
import type { UntrustedLines } from './forwarded-trust.ts'

interface Outbound {
  readonly head: RequestHead
  readonly route: EdgeRoute | null
  readonly origin: Origin | null
  readonly snapshot: Plane['snapshot']
  readonly request: OutboundRequest
}

interface Passage {
  readonly gates: readonly Gate[]
  /** The one that lets them in. */
  readonly gate: Gate
  readonly head: RequestHead
  readonly admission: Admission
  readonly outgoing: RequestHead
}

export class LastRequest {
  aiFields: AiFields | null = null
  providerLines: ProviderLines | null = null
  /** The field lines searched for our credentials (over HTTP/2 their contents), and the place. */
  searchedIds: readonly FieldId[] | null = null
  searchedFields: readonly string[] = []
  credentialPlace: string | null = null
  untrustedLines: UntrustedLines | null = null
  outbound: Outbound | null = null
  /** Through a gate. */
  passage: Passage | null = null
}
