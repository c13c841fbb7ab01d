// Gatehouse with rules as contestants of the bench: those that let every request of it pass, and those that refuse each.
import { commandVersion } from '../installed.ts'
import { keep } from '../launch.ts'
import { PASSING, REFUSING } from '../mixes.ts'
import type { Peer } from '../peers.ts'
import { emptyDatabase } from '../redis-server.ts'
import { gatehouse } from './gatehouse.ts'

const LIST_LENGTH = 1_000_000

const FORBIDDEN = 403
const TOO_MANY = 429

/** Rates that no bench reaches, and that its first request uses up. */
const FAR = '1000000000/h'
const NEAR = '1/d'

/** One contestant per kind of rule, in the order of the reports. */
export const gatehousesWithRules: readonly Peer[] = [
  withSettings(PASSING.oneRule, async () => accessRules(1)),
  withSettings(PASSING.tenRules, async () => accessRules(10)),
  withSettings(PASSING.hundredRules, async () => accessRules(100)),
  withSettings(PASSING.list, async () => accessRule('{ list: bench }') + list()),
  withSettings(PASSING.limit, async () => rateLimit(FAR)),
  inRedis(withSettings(PASSING.redis, redis)),
  inRedis(withSettings(PASSING.limitInRedis, async () => rateLimit(FAR) + (await redis()))),
  { ...withSettings(REFUSING.address, async () => accessRule('{ ip: 127.0.0.1 }')), denial: FORBIDDEN },
  { ...withSettings(REFUSING.expression, async () => accessRule(EXPRESSION)), denial: FORBIDDEN },
  { ...withSettings(REFUSING.limit, async () => rateLimit(NEAR)), denial: TOO_MANY },
  {
    ...inRedis(withSettings(REFUSING.limitInRedis, async () => rateLimit(NEAR) + (await redis()))),
    denial: TOO_MANY,
  },
]

const EXPRESSION = `'request.method == "GET" && request.path == "/"'`

function withSettings(name: string, settings: () => Promise<string>): Peer {
  return gatehouse(name, { more: settings })
}

function inRedis(peer: Peer): Peer {
  return { ...peer, version: () => commandVersion('redis-server', ['--version']) && peer.version() }
}

/** Writes rules of four kinds in turn, none of which matches a request of the bench. */
function accessRules(count: number): string {
  const conditions = Array.from({ length: count }, (_, i) => {
    const kinds = [
      `{ ip: 192.0.2.${i} }`,
      `{ ip: 10.${i}.0.0/16 }`,
      `{ user_agent: '*bot-${i}*' }`,
      `{ path: /private-${i} }`,
    ]
    return `    - deny: ${kinds[i % kinds.length]}\n`
  })
  return `access:\n  rules:\n${conditions.join('')}`
}

function accessRule(condition: string): string {
  return `access:\n  rules:\n    - deny: ${condition}\n`
}

/** Writes a list of addresses all over those before 127.0.0.0. */
function list(): string {
  const first = 0x01_00_00_00
  const step = Math.floor((0x7f_00_00_00 - first) / LIST_LENGTH)
  const lines = Array.from({ length: LIST_LENGTH }, (_, i) => `${dotted(first + i * step)}\n`)
  return `lists:\n  bench: ${keep('list.txt', lines.join(''))}\n`
}

function dotted(address: number): string {
  return [24, 16, 8, 0].map(shift => (address >>> shift) & 0xff).join('.')
}

function rateLimit(rate: string): string {
  return `rate_limits:\n  - name: bench\n    rate: ${rate}\n    key: address\n`
}

async function redis(): Promise<string> {
  return `store: ${await emptyDatabase()}\n`
}
