// What each permission opens: of every route of the management API, what its handler reads and changes in the store is compared with what its permission is for.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiRows, plainRows, userRows } from '../../src/admin/routes.ts'
import type { Row } from '../../src/admin/api/api-types.ts'
import { zoneRows } from '../../src/admin/zones/routes.ts'
import { permissionGroups } from '../../src/permissions/permission-groups.ts'
import type { Permission } from '../../src/permissions/permit.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { startApi } from '../admin/api.ts'
import { described } from '../admin/openapi/openapi-document.ts'
import { until } from '../help/until.ts'
import { type Api, send } from './openapi-asks.ts'
import { good } from './openapi-good-requests.ts'

/** What a permission, or the scope of a person, lets handlers read in the store and change there. `reads` has what a response shows, or what is looked up for it. */
interface Opened {
  readonly reads?: string
  readonly changes?: string
}

/** Which token asks, whose a zone is, whether a write got through, and what an Idempotency-Key repeats. */
const everybodys = 'tokens.findByDigest accounts.get accounts.oldest confirm responses.get responses.put'

const opened: Readonly<Record<Permission, Opened>> = {
  'OAuth Clients Read': {
    reads: 'oauthClients.get oauthClients.list oauthGrants.ofClient authorizationEvents.list',
  },
  // Who deletes a client, or takes scopes away, ends what users allowed it.
  'OAuth Clients Write': {
    reads: 'oauthClients.get oauthGrants.ofClient',
    changes:
      'oauthClients.insert oauthClients.replace oauthClients.remove oauthGrants.remove authorizationEvents.removeOf credentials.removeOf audit.append',
  },
  // Budgets are shown by the tokens and apps that have spent them, as the log is.
  'AI Gateway Read': {
    reads:
      'gateways.get gateways.list gateways.walk logs.list logs.get logs.marks logs.tail logs.sum logs.scan budgets.read tallies.list tokens.walk oauthGrants.walk modelRoutes.get modelRoutes.list policySets.get budgetAlertSets.get customProviders.get customProviders.walk answers.sum',
  },
  'AI Gateway Edit': {
    reads:
      'gateways.get logs.list budgets.read tallies.list modelRoutes.find modelRoutes.get modelRoutes.list policySets.get budgetAlertSets.get customProviders.get customProviders.list answers.sum',
    changes:
      'gateways.insert gateways.replace gateways.remove budgets.reset logs.edit logs.remove modelRoutes.insert modelRoutes.replace modelRoutes.remove policySets.insert policySets.replace budgetAlertSets.insert budgetAlertSets.replace customProviders.insert customProviders.replace customProviders.remove answers.eraseGateway audit.append',
  },
  'AI Gateway Run': {},
  'API Tokens Read': { reads: 'tokens.walk tokens.get tokens.lastUses budgets.read tallies.list' },
  'API Tokens Write': {
    reads: 'tokens.get tokens.lastUses tokenKeys.get budgets.read tallies.list',
    changes: 'tokens.insert tokens.replace tokens.remove budgets.reset audit.append',
  },
  'Custom Errors Read': { reads: 'errorRules.get errorPages.get tallies.list' },
  'Custom Errors Write': {
    reads: 'errorRules.get errorPages.get',
    changes: 'errorRules.insert errorRules.replace errorPages.replace errorPages.remove',
  },
  'Access Rules Read': { reads: 'accessRules.get tallies.list' },
  'Access Rules Write': {
    reads: 'accessRules.get',
    changes: 'accessRules.insert accessRules.replace',
  },
  // Zones, origins and metrics are in no store.
  'Origins Read': {},
  'Metrics Read': {},
  'Zones Read': { reads: 'tallies.list' },
  'Members Read': {
    reads:
      'members.list members.get users.get users.withIds oauthGrants.list oauthGrants.get oauthClients.get',
  },
  // Who is invited becomes a user with a link; who is removed or signed out has sessions and consents end.
  'Members Write': {
    reads:
      'members.find members.get members.ofUser users.findByEmail users.get oauthGrants.ofUser oauthGrants.get credentials.list tokens.walk',
    changes:
      'members.insert members.replace members.remove users.insert credentials.put credentials.removeOf oauthGrants.remove audit.append',
  },
  'Analytics Read': { reads: 'tallies.list' },
  'Audit Logs Read': { reads: 'audit.list' },
  'Account Settings Write': { changes: 'accounts.update' },
}

/** Shows parts, each only with the permission that shows the same elsewhere; test/admin/overview and test/admin/attention check that. */
const ofParts: readonly string[] = ['GET /overview', 'GET /attention']

const rows: readonly Row[] = [...apiRows, ...zoneRows]

test('no handler reads or changes more than the permission of its route is for', async t => {
  const all = new Map<Permission, Set<string>>(permissionGroups.map(({ name }) => [name, new Set()]))
  for (const { method, path, permission } of rows) {
    const spy = new Spy()
    const api = await startApi(t, store => spy.on(store))
    await askWell(api, spy, { method, path })
    if (ofParts.includes(`${method} ${path.replace('/client/v4/accounts/{account_id}', '')}`)) continue
    const allowed = permission === null ? [] : words(opened[permission])
    assert.deepEqual(spy.beyond(allowed), [], `${method} ${path} with ${permission}`)
    if (permission === null) continue
    // What is cleared away behind the response comes later.
    spy.addTo(all.get(permission)!)
  }
  for (const [permission, used] of all) {
    const wanted = words(opened[permission])
    await until(() => wanted.every(name => used.has(name)), 5_000).catch(() => {})
    assert.deepEqual(
      wanted.filter(name => !used.has(name)),
      [],
      `${permission} is said to open what no route does`,
    )
  }
})

test('operations that change something require a write permission, and those that read do not', () => {
  const isWriting = /( Write| Edit)$/
  // These change nothing: who may read may try.
  const tries = [
    'POST /client/v4/zones/{zone}/error_preview',
    'POST /client/v4/zones/{zone}/explain',
    'POST /client/v4/accounts/{account_id}/ai-gateway/providers/{provider_id}/test',
    'POST /client/v4/accounts/{account_id}/ai-gateway/gateways/{gateway_id}/policies/simulate',
  ]
  // It shows the ends of keys, which only those see who may set them.
  const ofKeys = '/client/v4/accounts/{account_id}/ai-gateway/gateways/{gateway_id}/provider_configs'
  for (const { method, path, permission } of rows) {
    if (method === 'GET' && path === ofKeys) continue
    const isRead = method === 'GET' || tries.includes(`${method} ${path}`)
    assert.equal(permission !== null && isWriting.test(permission), !isRead, `${method} ${path}`)
  }
  for (const { method, scope } of userRows) assert.equal(/\.write$/.test(scope), method !== 'GET', scope)
})

test('outside of accounts nothing is changed but by the person whose it is', async t => {
  for (const { method, path } of [...plainRows, ...userRows]) {
    if (!described.some(one => one.path === path && one.method === method)) continue
    const spy = new Spy()
    const api = await startApi(t, store => spy.on(store))
    await askWell(api, spy, { method, path })
    if (method !== 'GET') continue
    const changed = spy.beyond([]).filter(name => changing.test(name))
    assert.deepEqual(changed, [], `${method} ${path}`)
  }
})

const changing = /\.(?:insert|replace|remove|reset|step|removeOf|put|putAll|update|append|consume|trim)$/

function words({ reads = '', changes = '' }: Opened): readonly string[] {
  return `${reads} ${changes}`.split(' ').filter(word => word !== '')
}

/** Sends the good request to an operation, of which the spy has what its handler uses. */
async function askWell(api: Api, spy: Spy, { method, path }: Pick<Row, 'method' | 'path'>): Promise<void> {
  const { id, body } = described.find(one => one.path === path && one.method === method)!
  const request = { ...(await good[id]!(api)), ...(body && { body: body.examples[0] }) }
  spy.clear()
  const response = await send(api, id, request)
  assert.equal(response.status, 200, `${method} ${path}`)
  await response.arrayBuffer()
}

/** Notes what is used of a store, as `tokens.get`. */
class Spy {
  #used = new Set<string>()
  #all: Set<string> | null = null

  on(store: Store): Store {
    const noted = (value: object, prefix: string): object =>
      new Proxy(value, {
        get: (target, name) => {
          const member: unknown = Reflect.get(target, name, target)
          if (typeof member === 'function')
            return (...given: unknown[]) => {
              this.#note(prefix + String(name))
              return member.apply(target, given)
            }
          const isPart = typeof member === 'object' && member !== null && prefix === ''
          return isPart ? noted(member, `${String(name)}.`) : member
        },
      })
    return noted(store, '') as Store
  }

  clear(): void {
    this.#used = new Set()
  }

  beyond(allowed: readonly string[]): string[] {
    const known = new Set([...allowed, ...everybodys.split(' ')])
    return [...this.#used].filter(name => !known.has(name)).sort()
  }

  /** Adds what was used, and is from now on, to a set. */
  addTo(all: Set<string>): void {
    for (const name of this.#used) all.add(name)
    this.#all = all
  }

  #note(name: string): void {
    this.#used.add(name)
    this.#all?.add(name)
  }
}
