// The messages between the supervisor and a worker.

import type { ListeningSocket } from '../../net/socket/listening-socket.ts'
import type { Snapshot } from '../../metrics/metrics.ts'
import type { Config, Listener } from '../../config/model/config.ts'
import type { AnnouncedKey } from '../../store/cache/announced-keys.ts'
import type { Seen } from '../../store/contract/mark.ts'
import type { Tally } from '../../store/records/tally.ts'
import type { Loan } from '../../store/cache/cache-handover.ts'
import type { BanNews } from '../../access/bans/bans.ts'
import type { AutomaticTls } from '../../certificates/acme/automatic.ts'
import type { KeyedCheckResult } from '../../edge/origin/health/health-checker.ts'
import type { TicketKeySet } from '../../tls/ticket-keys.ts'
import type { NearKey } from '../../limits/near-keys.ts'
import type { SidePort } from '../../edge/snapshot/plane.ts'
import type { ProviderInProcess } from '../../edge/ai/provider-states.ts'
import type { PoolState } from '../../edge/origin/pools.ts'
import type { MovedShare, ShareClaim, ShareRequest } from '../../edge/accept/connection-share.ts'
import type { Explained, RequestInQuestion } from '../../zones/explanation.ts'

export const numericLog = '--numeric-log'

export type SocketPlace = Omit<ListeningSocket, 'handle'>

export type Ask =
  /** One of the sockets to start with; a worker binds its own for listeners without any. */
  | { readonly kind: 'socket'; readonly place: SocketPlace }
  | { readonly kind: 'adopt'; readonly place: SocketPlace }
  | { readonly kind: 'release'; readonly place: SocketPlace }
  | {
      readonly kind: 'start'
      readonly config: Config
      readonly slot: number
      readonly documentation: string | null
      readonly sidePort: SidePort
      readonly checks: readonly KeyedCheckResult[]
      readonly automatic: AutomaticTls
      /** Remaining time of each ban, in ms. */
      readonly bans: BanNews
      readonly ticketKeys: TicketKeySet | null
      /** `Store.openFiles` of the gateway. */
      readonly openFiles: string | null
      /** What the store must contain; null while unknown. */
      readonly seen: Seen | null
      readonly workers: number
      /** In ms. */
      readonly orphanGrace: number
      readonly lastWords: number
    }
  /** Builds a configuration that `commit` puts in effect, with the last results of all checks. */
  | { readonly kind: 'prepare'; readonly config: Config }
  | { readonly kind: 'commit'; readonly checks: readonly KeyedCheckResult[] }
  | { readonly kind: 'discard' }
  | { readonly kind: 'drain'; readonly grace: number }
  | { readonly kind: 'cut' }
  | { readonly kind: 'checks'; readonly results: readonly KeyedCheckResult[] }
  | { readonly kind: 'certificates'; readonly automatic: AutomaticTls }
  | { readonly kind: 'bans'; readonly bans: BanNews }
  | { readonly kind: 'tickets'; readonly keys: TicketKeySet }
  /** What the store must contain from now on. */
  | { readonly kind: 'trust'; readonly seen: Seen }
  | { readonly kind: 'found'; readonly keys: readonly AnnouncedKey[] }
  | { readonly kind: 'lend'; readonly found: AnnouncedKey }
  | { readonly kind: 'lent'; readonly id: number; readonly loan: Loan | null }
  | { readonly kind: 'share'; readonly moved: readonly MovedShare[] }
  | { readonly kind: 'grant'; readonly key: string; readonly count: number }
  | { readonly kind: 'claim'; readonly claim: ShareClaim }
  | { readonly kind: 'ping' }
  | { readonly kind: 'pools' }
  | { readonly kind: 'providers' }
  | { readonly kind: 'limits'; readonly names: readonly string[] }
  | { readonly kind: 'explain'; readonly request: RequestInQuestion }
  | { readonly kind: 'snapshot' }

/** The values of replies; those of other kinds have none. */
interface Replies {
  readonly start: readonly Listener[]
  readonly lend: Loan | null
  readonly claim: number
  readonly pools: readonly PoolState[]
  readonly providers: readonly ProviderInProcess[]
  readonly limits: readonly NearKey[]
  readonly explain: Explained | null
  readonly snapshot: Snapshot
}

export type Reply<Kind extends Ask['kind']> = Kind extends keyof Replies ? Replies[Kind] : unknown

export interface ToWorker {
  readonly id: number
  readonly ask: Ask
}

/**
 * A reply, or an unsolicited message: among others a mark that the store lacks, a bound socket (sent with the
 * message), and the final counts.
 */
export type FromWorker =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string }
  | { readonly refusals: BanNews }
  | { readonly found: readonly AnnouncedKey[] }
  | { readonly tallies: readonly Tally[] }
  | { readonly borrow: AnnouncedKey; readonly as: number }
  | { readonly wants: ShareRequest }
  | { readonly doubts: Seen }
  | { readonly bound: SocketPlace }
  | { readonly last: Snapshot }
