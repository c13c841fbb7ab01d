// What the API has set for a zone, in force beside what the file says of it.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AddressLists } from '../../../src/access/files/lists.ts'
import { createLogger } from '../../../src/log/log.ts'
import type { AccessRule } from '../../../src/config/model/access-config.ts'
import type { ErrorRule } from '../../../src/config/model/custom-errors-config.ts'
import type { ZoneDirectory } from '../../../src/edge/snapshot/zone-settings.ts'
import type { KnownZone } from '../../../src/zones/known-zones.ts'
import { watchedFolder } from '../../access/watched-folder.ts'
import { codeOf, Edge, edgeConfig, type EdgeSettings, listenAt } from '../../help/edge.ts'
import { ok, startResponder } from '../../help/origin.ts'

const id = '0'.repeat(32)
const get = 'GET / HTTP/1.1\r\nHost: site.test\r\nAccept: application/json\r\n\r\n'
const denied: AccessRule = {
  action: 'deny',
  condition: { kind: 'ip', networks: ['127.0.0.1'] },
  description: null,
}
const allowed: AccessRule = { ...denied, action: 'allow' }

function rule(content: string): ErrorRule {
  return {
    expression: 'response.code == 409',
    content,
    contentType: 'text/plain',
    status: null,
    description: null,
  }
}

async function edgeWith(t: TestContext, known: Partial<KnownZone> | null, settings: EdgeSettings = {}) {
  const origin = await startResponder(t, ok())
  const zone = known && { errorRules: [], accessRules: [], errorPages: {}, ...known }
  const zones: ZoneDirectory = { of: name => (name === 'site' ? zone : null) }
  return listenAt(t, new Edge(t, edgeConfig([origin.url], settings), { zones }))
}

test('no request is allowed as long as deny rules may be missing', async t => {
  const edge = await edgeWith(t, null)
  assert.equal(codeOf(await edge.ask(get)), 1023)
  assert.equal(codeOf(await edge.ask(get.replace('/', '/cdn-cgi/error/1000'))), 1023)
})

test('a zone for which the API has set nothing is served as the file says', async t => {
  const edge = await edgeWith(t, {})
  assert.equal((await edge.ask(get)).status, 200)
})

test('a rule of the API is evaluated before those of the file', async t => {
  const file = { rules: [allowed], otherwise: 'allow', ban: null } as const
  const edge = await edgeWith(t, { accessRules: [{ ...denied, id }] }, { zone: { access: file } })
  assert.equal(codeOf(await edge.ask(get)), 1006)
})

test('a rule that does not compile here disables its zone, and the log says so', async t => {
  const lost: AccessRule = { ...denied, condition: { kind: 'list', name: 'lost' } }
  const edge = await edgeWith(t, { accessRules: [{ ...lost, id }] })
  assert.equal(codeOf(await edge.ask(get)), 1049)
  assert.match(JSON.stringify(edge.events), /"zone":"site","reason":"list lost is not loaded"/)
})

test('a configuration that takes away what a rule of the API names is refused, and changes nothing', async t => {
  const listed: AccessRule = { ...denied, condition: { kind: 'list', name: 'lost' } }
  const origin = await startResponder(t, ok())
  const zones: ZoneDirectory = {
    of: () => ({ errorRules: [], accessRules: [{ ...listed, id }], errorPages: {} }),
  }
  const lists = new AddressLists({ log: createLogger('error', { write: () => {} }) })
  t.after(() => lists.close())
  const known = await lists.open([{ name: 'lost', path: watchedFolder(t).write('lost', '192.0.2.1\n') }])
  const edge = new Edge(t, edgeConfig([origin.url]), { zones, access: { lists: known, geo: null } })
  await listenAt(t, edge)
  const none = { lists: await lists.open([]), geo: null }
  assert.throws(
    () => edge.plane.prepare(edgeConfig([]), none),
    /zone site conflicts with its API-managed rules: list lost is not loaded/,
  )
  assert.equal((await edge.ask(get)).status, 200)
})

test('rules of the API cannot allow what the file denies for legal reasons', async t => {
  const legal: AccessRule = {
    action: 'legal',
    condition: { kind: 'path', prefixes: ['/'] },
    description: null,
  }
  const access = {
    rules: [{ ...denied, condition: { kind: 'path', prefixes: ['/'] } }, legal],
    otherwise: 'allow',
    ban: null,
  } as const
  const edge = await edgeWith(t, { accessRules: [{ ...allowed, id }] }, { zone: { access } })
  assert.equal(codeOf(await edge.ask(get)), 1026)
})

test('error rules of the API come first, then those of the file for the zone, then those for all', async t => {
  const zone = { paused: true, errors: { rules: [rule('file')], pages: {} } }
  const settings = { zone, errors: { rules: [rule('account')] } }
  const both = await edgeWith(t, { errorRules: [{ ...rule('API'), id }] }, settings)
  assert.equal((await both.ask(get)).text, 'API')
  assert.equal((await (await edgeWith(t, {}, settings)).ask(get)).text, 'file')
})

test('a page of the API replaces the one of its type in the file, and no other', async t => {
  const pages = { '1000_errors': '<p>file</p>', ratelimit_block: '<p>kept</p>' }
  const zone = { paused: true, errors: { rules: [], pages } }
  const edge = await edgeWith(t, { errorPages: { '1000_errors': '<p>API</p>' } }, { zone })
  assert.equal((await edge.ask(get)).text, '<p>API</p>')
  const preview = await edge.ask('GET /cdn-cgi/error/1015 HTTP/1.1\r\nHost: site.test\r\n\r\n')
  assert.equal(preview.text, '<p>kept</p>')
})

test('settings of the API are in effect after a refresh, and an exchange keeps those it began with', async t => {
  const origin = await startResponder(t, ok())
  let accessRules: KnownZone['accessRules'] = []
  const zones: ZoneDirectory = { of: () => ({ errorRules: [], accessRules, errorPages: {} }) }
  const edge = await listenAt(t, new Edge(t, edgeConfig([origin.url]), { zones }))
  assert.equal((await edge.ask(get)).status, 200)
  accessRules = [{ ...denied, id }]
  assert.equal((await edge.ask(get)).status, 200)
  edge.plane.refresh()
  assert.equal(codeOf(await edge.ask(get)), 1006)
})

test('a change in one zone compiles no other zone', async t => {
  const origin = await startResponder(t, ok())
  const nothing: KnownZone = { errorRules: [], accessRules: [], errorPages: {} }
  const known = new Map<string, KnownZone>([
    ['site', { ...nothing, accessRules: [{ ...allowed, id }] }],
    ['other', { ...nothing, accessRules: [{ ...allowed, id }] }],
  ])
  const zones: ZoneDirectory = { of: name => known.get(name) ?? nothing }
  const config = edgeConfig([origin.url])
  const other = { ...config.zones[0]!, name: 'other', hosts: ['other.test'] }
  const edge = await listenAt(t, new Edge(t, { ...config, zones: [...config.zones, other] }, { zones }))
  const policyOf = (host: string) => edge.plane.snapshot.zones.find(host)!.access
  const before = [policyOf('site.test'), policyOf('other.test')]
  known.set('site', { ...nothing, accessRules: [{ ...denied, id }] })
  edge.plane.refresh()
  assert.equal(policyOf('other.test'), before[1])
  assert.notEqual(policyOf('site.test'), before[0])
  assert.equal(codeOf(await edge.ask(get)), 1006)
  edge.reload(edgeConfig([origin.url], { errors: { rules: [rule('account')] } }))
  assert.notEqual(policyOf('site.test'), before[0])
})
