// What people get at the host of a site when the store fails, while the edge goes on with the rest of the site.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { sitePaths } from '../../src/pages/parts/paths.ts'
import { newValue } from '../../src/people/records/secret-value.ts'
import { Sessions } from '../../src/people/sessions/sessions.ts'
import { challengeOf, SiteSessions } from '../../src/people/sessions/site-sessions.ts'
import { SiteFace } from '../../src/sign-in/site-face.ts'
import { stateOf } from '../../src/sign-in/site-state.ts'
import { Sites } from '../../src/sign-in/sites.ts'
import { StoreBusy, StoreDegraded, StoreUnreachable, StoreUntouched } from '../../src/store/contract/store.ts'
import { openStore } from '../../src/store/open.ts'
import { TokenTags } from '../../src/tokens/token-tags.ts'
import { zoneTo } from '../help/edge.ts'
import { anyone } from '../help/site-sessions.ts'
import { Settlement } from '../people/settlement.ts'
import { ContractClock } from '../store/contract-clock.ts'

const base = 'https://wiki.example'
const browser = { address: '192.0.2.7', userAgent: null, ray: '0123456789abcdef' }
const lost = { code: 'store_older', message: 'the store is older', remedy: 'Restore it' } as const

const failures = [
  [new StoreUnreachable(), /cannot reach its store/],
  [new StoreUntouched({ code: 'SQLITE_FULL' }), /takes no changes, for example because its disk is full/],
  [
    new StoreUnreachable({ code: 'UNCONFIRMED' }),
    /did not confirm this, so it may or may not have been done/,
  ],
  [new StoreBusy(), /is busy, so this was not done/],
  [new StoreDegraded(lost), /The store is not trusted.*the store is older.*Restore it/s],
] as const

test('the pages at the host of a site say what the store did, and when to try again', async t => {
  const { siteSessions, get, visit } = await start(t)
  const { cookie, way } = await visit()
  const signedIn = `${sitePaths.signedIn}?${new URLSearchParams({ code: 'any', state: way.state })}`
  for (const [failure, sentence] of failures)
    for (const [method, path, cookies] of [
      ['find', sitePaths.signOut, cookie],
      ['begin', signedIn, way.cookie],
    ] as const) {
      const mocked = t.mock.method(siteSessions, method, () => Promise.reject(failure))
      const { status, headers, body } = await get(path, cookies)
      assert.deepEqual([status, headers.get('retry-after')], [503, '5'], `${path}, ${failure.fault}`)
      assert.equal(headers.get('cache-control'), 'no-store')
      assert.equal(headers.get('set-cookie'), null)
      assert.match(body, sentence)
      assert.equal(body.includes('cannot reach'), failure.fault === 'unreachable')
      mocked.mock.restore()
    }
  assert.match((await get(sitePaths.signOut, cookie)).body, /Sign out\?/)
})

test('a mistake of ours is not blamed on the store', async t => {
  const { siteSessions, get, visit } = await start(t)
  const { cookie } = await visit()
  t.mock.method(siteSessions, 'find', () => Promise.reject(new Error('on purpose')))
  assert.deepEqual((await get(sitePaths.signOut, cookie)).body, 'Error: on purpose')
})

async function start(t: TestContext) {
  const clock = new ContractClock()
  const store = await openStore('sqlite::memory:', { commandTimeout: 5_000, clock })
  t.after(() => store.close())
  const zone = zoneTo([], { zone: { hosts: ['wiki.example'] }, route: { protect: [anyone] } })
  const sessions = new Sessions(store, clock)
  const siteSessions = new SiteSessions(store, new TokenTags(store), clock)
  const pages = () => 'https://pages.example'
  const face = new SiteFace({ sites: new Sites(() => [zone]), siteSessions, sessions, store, pages, clock })
  const server = createServer((request, response) => {
    const sender = { ...browser, peer: '127.0.0.1', isVouched: true, base }
    face.serve(request, response, sender).catch(bug => response.writeHead(500).end(String(bug)))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo

  async function get(path: string, cookie: string) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { cookie } })
    return { status: response.status, headers: response.headers, body: await response.text() }
  }

  /** Somebody who has signed in at the site, and is on the way to do so once more. */
  async function visit() {
    const user = await new Settlement(store).settle()
    const proof = { method: 'password', secondFactor: false, at: clock.now() } as const
    const { session } = await sessions.begin(user, proof, browser)
    const verifier = newValue().value
    const code = await siteSessions.issueCode(session, { site: base, challenge: challengeOf(verifier) })
    const value = await siteSessions.begin(code, base, verifier)
    const secret = newValue().value
    return {
      cookie: `__Host-gatehouse-site=${value}`,
      way: { cookie: `__Host-gatehouse-way=${secret}`, state: stateOf(secret, '/') },
    }
  }

  return { siteSessions, get, visit }
}
