// The kinds of traffic under which two states of the project are compared.
import type { MixName } from '../load/mixes.ts'
import type { Peer } from '../load/peers.ts'
import { gatehouse } from '../load/peers/gatehouse.ts'
import { gatehouseAi, gatehouseWith } from '../load/peers/gatehouse-ai.ts'
import { gatehouseProtected } from '../load/peers/gatehouse-protected.ts'
import type { GateKind } from '../load/peers/gates.ts'

/** What is sent, and to which kind of gateway, of the source tree in a folder. */
export interface Scenario {
  readonly mix: MixName
  readonly peer: (name: string, root: string) => Peer
}

const zone = (mix: MixName): Scenario => ({ mix, peer: (name, root) => gatehouse(name, { root }) })
const native = (mix: MixName): Scenario => ({
  mix,
  peer: (name, root) => gatehouseAi('native', name, { root }),
})
const governedBy = (settings: Parameters<typeof gatehouseWith>[0]): Scenario => ({
  mix: 'chat',
  peer: (name, root) => gatehouseWith(settings, name, { root }),
})

/** All requests of one client, which are compared with `get`, or each of another one. */
const shown = (kind: GateKind, { inTurn = false, identity = false } = {}): Scenario => ({
  mix: inTurn ? 'turns' : 'get',
  peer: (name, root) => gatehouseProtected(kind, name, { root, inTurn, identity }),
})
const inTurn = true
const identity = true

export const scenarios = {
  get: zone('get'),
  /** Without the access log. */
  unlogged: { mix: 'get', peer: (name, root) => gatehouse(name, { root, logsAccess: false }) },
  /** Behind a gate, with svc-identity, and of a thousand clients in turn, which without a gate show what an origin gave them. */
  protectedSession: shown('session'),
  protectedToken: shown('token'),
  protectedAccess: shown('access'),
  protectedJwt: shown('jwt'),
  identifiedSession: shown('session', { identity }),
  identifiedJwt: shown('jwt', { identity }),
  cookies: shown('cookie', { inTurn }),
  bearers: shown('bearer', { inTurn }),
  sessions: shown('session', { inTurn }),
  tokens: shown('token', { inTurn }),
  accessTokens: shown('access', { inTurn }),
  jwts: shown('jwt', { inTurn }),
  identifiedSessions: shown('session', { inTurn, identity }),
  identifiedJwts: shown('jwt', { inTurn, identity }),
  post: zone('post'),
  mixed: zone('mixed'),
  upload: zone('upload'),
  download: zone('download'),
  tls: zone('tls'),
  h2: zone('h2'),
  streams: zone('streams'),
  full: zone('full'),
  resumed: zone('resumed'),
  down: zone('down'),
  /** Chats with a token and a log, as by default; without both; with one of them, the log without bodies and with them; with a limit too, and with three budgets; with the model rewritten, and behind an alias. */
  chat: native('chat'),
  open: governedBy('open'),
  token: governedBy('token'),
  entries: governedBy('entries'),
  log: governedBy('log'),
  governed: governedBy('governed'),
  budgets: governedBy('budgets'),
  /** Chats without token and log whose response is reused, and ones that the guard looks at; streams with it, and all that is usual. */
  hit: governedBy('hit'),
  guarded: governedBy('guarded'),
  guardedStream: { mix: 'ttft', peer: (name, root) => gatehouseWith('guardedAsUsual', name, { root }) },
  rest: { mix: 'chat', peer: (name, root) => gatehouseAi('REST', name, { root }) },
  alias: { mix: 'alias', peer: (name, root) => gatehouseAi('alias', name, { root }) },
  unknown: native('unknown'),
  missing: native('missing'),
  stream: native('ttft'),
} satisfies Record<string, Scenario>

export type ScenarioName = keyof typeof scenarios

export function isScenarioName(name: string): name is ScenarioName {
  return Object.hasOwn(scenarios, name)
}
