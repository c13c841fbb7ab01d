// A configuration that is prepared and not yet committed: what changes meanwhile counts for it, too, and nothing of it is left once it is discarded.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { AccessRule } from '../../src/config/model/access-config.ts'
import type { KnownZone } from '../../src/zones/known-zones.ts'
import { codeOf, Edge, edgeConfig, listenAt } from '../help/edge.ts'
import { ok, startResponder } from '../help/origin.ts'

const get = 'GET / HTTP/1.1\r\nHost: site.test\r\nAccept: application/json\r\n\r\n'
const denied: AccessRule & { readonly id: string } = {
  action: 'deny',
  condition: { kind: 'ip', networks: ['127.0.0.1'] },
  description: null,
  id: '0'.repeat(32),
}

/** Starts an edge before a site that says `old`, and prepares a configuration in which its zone, renamed, says `new`. */
async function startPrepared(t: TestContext) {
  const [before, after] = await Promise.all(['old', 'new'].map(text => startResponder(t, ok(text))))
  let known: KnownZone = { errorRules: [], accessRules: [], errorPages: {} }
  const edge = await listenAt(t, new Edge(t, edgeConfig([before!.url]), { zones: { of: () => known } }))
  const prepared = edge.plane.prepare(edgeConfig([after!.url], { zone: { name: 'renamed' } }))
  const setRules = (accessRules: KnownZone['accessRules']) => {
    known = { ...known, accessRules }
    edge.plane.refresh()
  }
  return { edge, prepared, setRules }
}

test('a prepared configuration serves once it is committed', async t => {
  const { edge, prepared } = await startPrepared(t)
  assert.equal((await edge.ask(get)).text, 'old')
  prepared.commit()
  assert.equal((await edge.ask(get)).text, 'new')
})

test('rules that the API changes meanwhile count before and after the commit', async t => {
  const { edge, prepared, setRules } = await startPrepared(t)
  setRules([denied])
  assert.equal(codeOf(await edge.ask(get)), 1006)
  prepared.commit()
  assert.equal(codeOf(await edge.ask(get)), 1006)
  setRules([])
  assert.equal((await edge.ask(get)).text, 'new')
})

test('certificates that come meanwhile are served before and after the commit', async t => {
  const { edge, prepared } = await startPrepared(t)
  const challenge = { host: 'site.test', token: 'abc', keyAuthorization: 'abc.thumbprint', validation: null }
  edge.plane.takeCertificates({ identities: [], challenges: [challenge] })
  const check = get.replace('/', '/.well-known/acme-challenge/abc')
  assert.equal((await edge.ask(check)).text, 'abc.thumbprint')
  prepared.commit()
  assert.equal((await edge.ask(check)).text, 'abc.thumbprint')
})

test('nothing is left of a configuration that is discarded', async t => {
  const { edge, prepared, setRules } = await startPrepared(t)
  prepared.discard()
  setRules([])
  assert.equal((await edge.ask(get)).text, 'old')
  assert.deepEqual([...edge.metrics.zones.keys()], ['site'])
})
