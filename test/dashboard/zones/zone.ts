// A zone with all that its pages can show, and text everywhere that somebody could have chosen to do harm.

import type { RateLimitConfig } from '../../../src/config/model/limit-config.ts'
import { rateLimitOf } from '../../../src/limits/limit.ts'
import type { startApi } from '../../admin/api.ts'
import type { TestContext } from 'node:test'
import { type KeptAccessRule, zoneOwner } from '../../../src/store/records/zone-lists.ts'
import { Edge, edgeConfig, zoneTo } from '../../help/edge.ts'
import { pool, zoneWith } from '../../admin/zones/zones.ts'

type Given = Api['given']

type Api = Awaited<ReturnType<typeof startApi>>

/** Sets access rules over the API, and returns the id of the first. */
export async function furnishRules(ask: Api['ask'], text: string): Promise<string> {
  const path = '/client/v4/zones/main/access_rules'
  const made = await ask('POST', path, {
    body: { action: 'deny', user_agent: [text, ''], description: text },
  })
  const expression = `request.path == ${JSON.stringify(text)}`
  await ask('POST', path, { body: { action: 'allow', expression } })
  return made.json.result.id
}

export function furnishZone(given: Given, text: string): void {
  const limit = limitOf('burst', text)
  const [route] = zoneTo(['http://10.0.0.1:9000', 'http://10.0.0.2:9000'], {
    route: {
      path: `/shop`,
      host: { name: text },
      redirects: 1,
      rateLimits: [limitOf('route', text)],
      rewrite: {
        path: `"${text}"`,
        requestHeaders: [{ name: text, value: '"x"' }],
        responseHeaders: [{ name: text, value: '"x"' }],
      },
    },
    pool: { name: text },
  }).routes
  const check = {
    ...{ path: text, host: null, interval: 10_000, timeout: 1_000 },
    ...{ healthy: 1, unhealthy: 3, least: 200, most: 299 },
  }
  given.configs[0] = zoneWith({
    hosts: ['*.main.test', text],
    isDefault: true,
    paused: true,
    rateLimits: [limit],
    quota: { day: 1_000, month: 20_000 },
    routes: [
      route!,
      { ...route!, path: '/mcp', mcp: { bodyLimit: 1, origins: [], rules: [], otherwise: 'allow' } },
      { ...route!, path: '/', pool: { ...route!.pool!, balance: { by: 'hash', header: text }, check } },
    ],
    access: {
      rules: [
        { action: 'legal', condition: { kind: 'country', countries: ['FR'] }, description: text },
        { action: 'deny', condition: { kind: 'user_agent', patterns: [text, ''] }, description: null },
      ],
      otherwise: 'deny',
      ban: { refusals: 5, within: 60_000, lasts: 600_000 },
    },
  })
  given.ofAll = {
    ...given.ofAll,
    access: {
      rules: [{ action: 'allow', condition: { kind: 'path', prefixes: ['/healthz'] }, description: text }],
      otherwise: 'allow',
      ban: null,
    },
  }
  given.lists = ['partners', text]
  const [down, ejected] = pool.origins
  const failed = { ...down!.check!, last_error: text }
  given.pools = [
    {
      pool: text,
      routes: ['/', text],
      origins: [
        { ...down!, url: text, check: failed, queued: 2 },
        ejected!,
        { ...ejected!, state: 'healthy', url: 'http://10.0.0.3:9000', ejected_until: null, share: 0.5 },
      ],
    },
  ]
  given.certificates = [
    {
      ...{ host: '*.main.test', source: 'file', state: 'valid' },
      ...{ certificate: { subject: `CN=${text}`, issuer: text, names: [text, 'a', 'b', 'c', 'd', 'e'] } },
      ...{ notAfter: then, issuedAt: null, nextAt: null, failures: 0, lastError: null },
    },
    {
      ...{ host: text, source: 'acme', state: 'failing', certificate: null },
      ...{
        notAfter: null,
        issuedAt: null,
        nextAt: then,
        failures: 2,
        lastError: { at: then, message: text },
      },
    },
  ]
  given.near = [
    [
      {
        limit: rateLimitOf(limit).name,
        ...{ key: `field ${text}\n192.0.2.1\n`, storeKey: 'k', used: 9, unreported: 9 },
      },
    ],
  ]
}

const then = Date.UTC(2026, 0, 1)

function limitOf(name: string, text: string): RateLimitConfig {
  return {
    ...{ name, limit: 10, period: 60_000, when: `"${text}" != ""`, action: 'block' },
    key: [{ by: 'header', name: text }, { by: 'address' }],
  }
}

/** Has a gateway explain requests to main.test, with the rules that the API has set. */
export function explainWith(t: TestContext, { given, kept }: Pick<Api, 'given' | 'kept'>): void {
  let accessRules: readonly KeptAccessRule[] = []
  const zones = { of: () => ({ errorRules: [], accessRules, errorPages: {} }) }
  const zone = { name: 'main', hosts: ['main.test'] }
  const edge = new Edge(t, edgeConfig(['http://127.0.0.1:9'], { zone }), { zones })
  t.after(() => edge.plane.destroy())
  given.configs[0] = zoneWith(zone)
  given.explain = async asked => {
    accessRules = (await kept.accessRules.get(zoneOwner, 'main'))?.record.rules ?? []
    edge.plane.refresh()
    return edge.plane.explain(asked)
  }
}
