// The AI routes of Gatehouse as contestants of the bench: a new store, its first token, and everything on.
import { type Door, PROVIDER_DOOR } from '../call.ts'
import { commandVersion, packageVersion, programIn, ROOT } from '../installed.ts'
import { freePort } from '../../../test/help/free-port.ts'
import { emptyFolder, keep, type Running } from '../launch.ts'
import { NATIVE_IN_REDIS } from '../mixes.ts'
import type { Peer } from '../peers.ts'
import { emptyDatabase } from '../redis-server.ts'
import { unboundedConnections } from './gatehouse.ts'

const ACCOUNT = /\b[0-9a-f]{32}\b/
const TOKEN = /\bsvct_[\w-]+/

/** Entries that the log keeps, as by default, and calls a minute that no bench reaches. */
const LOG_LENGTH = 100_000
const FAR = 1_000_000_000

/** As long as the model behind it, so that both requests have the same length. */
const ALIAS_NAME = 'openai-gpt-4o-mini'

type Route = 'native' | 'REST' | 'alias'

interface AiOptions {
  /** The folder of a tree whose sources are started; by default, what `npm start` starts in this one is. */
  readonly root?: string
  /** Make further settings. */
  readonly settings?: () => Promise<string>
  readonly zones?: (origin: number) => Promise<string>
}

/** Makes a peer of one kind of AI route. */
export function gatehouseAi(
  route: Route,
  name = `gatehouse ${route}`,
  { root, settings = async () => '', zones = async () => 'zones: []\n' }: AiOptions = {},
): Peer {
  return {
    name,
    refusal: 521,
    version: () => packageVersion(root ?? ROOT),
    async prepare(port, origin) {
      const admin = await freePort()
      const more = (await settings()) + (await zones(origin))
      const models = route === 'alias' ? aliasOf(origin) : ''
      const path = keep('gatehouse-ai.yaml', config(port, admin, origin) + models + more)
      const args = [programIn(root), 'start', '--config', path]
      const env = { GATEHOUSE_DATA: emptyFolder() }
      return { file: process.execPath, args, env, prints: TOKEN, metrics: admin }
    },
    door: printed => doorOf(route, printed),
  }
}

/** The native route, with Redis as the store. */
export function gatehouseAiInRedis(): Peer {
  const settings = async () => `store: ${await emptyDatabase()}\n`
  const peer = gatehouseAi('native', NATIVE_IN_REDIS, { settings })
  return { ...peer, version: () => commandVersion('redis-server', ['--version']) && peer.version() }
}

/** What a gateway asks for and keeps, as the management API has it. */
const token = { authentication: true }
const noToken = { authentication: false }
const log = { collect_logs: true, log_management: LOG_LENGTH }
const logWithoutBodies = { ...log, collect_logs: false }
const noLog = { collect_logs: false, log_management: 0 }
const farLimit = {
  rate_limiting_interval: 60,
  rate_limiting_limit: FAR,
  rate_limiting_technique: 'fixed',
}

/** Three budgets, none of which a bench reaches. */
const farBudgets = {
  spend_limits: {
    rules: [
      { id: 'day', limit: FAR / 1000, limitType: 'cost', window: 'day', token: { mode: 'partition' } },
      { id: 'minute', limit: FAR * 1000, limitType: 'tokens', window: 60, technique: 'sliding' },
      { id: 'at-once', limit: 100_000, limitType: 'concurrency' },
    ],
  },
}

/** The guard with all its patterns, which holds back what may be the beginning of one. */
const guard = { dlp: { policies: [{ action: 'BLOCK', profiles: ['*'] }] } }

/** The settings that cost something, each alone and all together. */
const governance = {
  open: { ...noToken, ...noLog },
  token: { ...token, ...noLog },
  entries: { ...noToken, ...logWithoutBodies },
  log: { ...noToken, ...log },
  governed: { ...token, ...log, ...farLimit },
  budgets: { ...token, ...log, ...farLimit, ...farBudgets },
  hit: { ...noToken, ...noLog, cache_ttl: 86_400 },
  guarded: { ...noToken, ...noLog, ...guard },
  usual: { ...token, ...log },
  guardedAsUsual: { ...token, ...log, ...guard },
} as const

/** The native route of a gateway with some of what governs: nothing, a token, log entries without or with bodies, or all and a rate limit that is far away, or also three budgets; with nothing else, reuse of responses, or the guard; a token and a log are usual, also with the guard. */
export function gatehouseWith(
  settings: keyof typeof governance,
  name: string,
  options: AiOptions = {},
): Peer {
  return {
    ...gatehouseAi('native', name, options),
    settle: running => change(running, governance[settings]),
  }
}

async function change({ metrics, printed }: Running, settings: object): Promise<void> {
  const { account, token } = firstStartIn(printed())
  const gateway = `http://127.0.0.1:${metrics}/client/v4/accounts/${account}/ai-gateway/gateways/default`
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ ...UNUSED, ...settings })
  const response = await fetch(gateway, { method: 'PUT', headers, body })
  if (response.status !== 200) throw new Error(`the gateway was not changed: ${await response.text()}`)
}

/** What the published client always sends of a gateway. */
const UNUSED = {
  cache_invalidate_on_update: false,
  cache_ttl: 0,
  rate_limiting_interval: 0,
  rate_limiting_limit: 0,
}

function config(port: number, admin: number, origin: number): string {
  return `workers: 0
listen: ['127.0.0.1:${port}']
admin: 127.0.0.1:${admin}
${unboundedConnections}ai:
  hosts: ['127.0.0.1']
  providers:
    openai:
      url: http://127.0.0.1:${origin}/v1
      keys: sk-bench
`
}

/** Adds a second provider to those of the configuration, and an alias that falls back to it. */
function aliasOf(origin: number): string {
  const { model } = PROVIDER_DOOR
  return `    custom-spare:
      url: http://127.0.0.1:${origin}/v1
      keys: sk-bench
  models:
    ${ALIAS_NAME}: [openai/${model}, custom-spare/${model}]
`
}

function doorOf(route: Route, printed: string): Door {
  const { account, token } = firstStartIn(printed)
  if (route === 'native') return nativeDoor(account, token)
  return restDoor(account, token, route === 'REST' ? `openai/${PROVIDER_DOOR.model}` : ALIAS_NAME)
}

/** Finds the account and its first token in what the first start on an empty store prints. */
export function firstStartIn(printed: string): { readonly account: string; readonly token: string } {
  const account = ACCOUNT.exec(printed)?.[0]
  const token = TOKEN.exec(printed)?.[0]
  if (account === undefined || token === undefined) throw new Error('it printed no account and no token')
  return { account, token }
}

/** Returns where the native route of an account takes chats, with the token that its callers show. */
export function nativeDoor(account: string, token: string): Door {
  return {
    ...PROVIDER_DOOR,
    path: `/v1/${account}/default/openai/chat/completions`,
    token: ['svc-aig-authorization', `Bearer ${token}`],
  }
}

function restDoor(account: string, token: string, model: string): Door {
  return {
    path: `/client/v4/accounts/${account}/ai/v1/chat/completions`,
    model,
    fields: {},
    token: ['authorization', `Bearer ${token}`],
  }
}
