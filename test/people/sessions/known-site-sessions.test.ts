import assert from 'node:assert/strict'
import { digestOfValue, newValue } from '../../../src/people/records/secret-value.ts'
import { KnownSiteSessions } from '../../../src/people/sessions/known-site-sessions.ts'
import { challengeOf, SiteSessions } from '../../../src/people/sessions/site-sessions.ts'
import { openStore } from '../../../src/store/open.ts'
import { TokenTags } from '../../../src/tokens/token-tags.ts'
import { until } from '../../help/until.ts'
import { onStores, type Village, visit } from '../on-stores.ts'

const hour = 3_600_000
const site = 'https://app.example'

async function known(village: Village) {
  const { store, tags, clock, parts } = village
  const user = await village.settle()
  const proof = { method: 'password', secondFactor: false, at: clock.now() } as const
  const { session } = await parts.sessions.begin(user, proof, visit)
  const sites = new SiteSessions(store, tags, clock)
  const verifier = newValue().value
  const code = await sites.issueCode(session, { site, challenge: challengeOf(verifier) })
  const value = (await sites.begin(code, site, verifier))!
  const sessions = new KnownSiteSessions({ store, tags, grace: hour, clock })
  return { user, session, value, digest: digestOfValue(value), sessions }
}

onStores('a review finds what a use finds, and a session that has ended is not found', async village => {
  const { sessions, value, digest, user, session } = await known(village)
  const reviewed = await sessions.review(digest)
  assert.equal(reviewed?.user.id, user.id)
  assert.deepEqual(await sessions.find(value), reviewed)
  await village.parts.sessions.endOne(user.id, session.id)
  await until(async () => (await sessions.review(digest)) === null)
  assert.equal(await sessions.find(value), null)
})

onStores('a review is no use of the session, and makes none of the next use', async village => {
  const { sessions, value, digest } = await known(village)
  const { clock } = village
  for (let hours = 0; hours < 11; hours++) {
    clock.advance(hour)
    assert.notEqual(await sessions.review(digest), null)
  }
  assert.notEqual(await sessions.find(value), null)
  clock.advance(11 * hour)
  assert.notEqual(await sessions.review(digest), null)
  clock.advance(hour)
  assert.equal(await sessions.review(digest), null)
})

onStores('a review learns of a use elsewhere when the session would have ended', async village => {
  const { sessions, value, digest } = await known(village)
  const { clock, store, tags } = village
  assert.notEqual(await sessions.review(digest), null)
  clock.advance(11 * hour)
  const others = new KnownSiteSessions({ store, tags, grace: hour, clock })
  assert.notEqual(await others.find(value), null)
  clock.advance(2 * hour)
  assert.notEqual(await sessions.review(digest), null)
})

onStores(
  'ten thousand made-up sessions cost no query, and one that there is is found',
  async (village, t) => {
    const { sessions, value } = await known(village)
    const queries = t.mock.method(village.store.credentials, 'get')
    const others = new TokenTags(await openStore('sqlite::memory:', { commandTimeout: 5_000 }))
    for (let i = 0; i < 10_000; i++) {
      const secret = newValue().value
      const madeUp = i % 2 === 0 ? secret + value.slice(-11) : await others.tagged(secret)
      assert.equal(sessions.find(madeUp), null)
    }
    for (const malformed of ['', newValue().value, value.slice(1), `${value}A`, value.toLowerCase()])
      assert.equal(sessions.find(malformed), null)
    assert.equal(queries.mock.callCount(), 0)
    assert.notEqual(await sessions.find(value), null)
    assert.ok(queries.mock.callCount() > 0)
  },
)
