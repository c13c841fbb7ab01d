import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { digestOfValue, newValue } from '../../../src/people/records/secret-value.ts'
import { KnownSiteSessions } from '../../../src/people/sessions/known-site-sessions.ts'
import { challengeOf, SiteSessions } from '../../../src/people/sessions/site-sessions.ts'
import { Sessions } from '../../../src/people/sessions/sessions.ts'
import { openStore } from '../../../src/store/open.ts'
import { TokenTags } from '../../../src/tokens/token-tags.ts'
import { ManualClock } from '../../help/clock.ts'
import { until } from '../../help/until.ts'
import { account, member, user as newUser } from '../../store/contract-specimens.ts'
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

/** A session that this process knows, of a member of an account, and the queries that it makes. */
async function remembered(t: TestContext) {
  const clock = new ManualClock(Date.now())
  const store = await openStore('sqlite::memory:', { commandTimeout: 5_000, clock })
  t.after(() => store.close())
  const [ada, place] = [newUser(), account()]
  await store.users.insert(ada)
  await store.accounts.insert(place)
  const joined = member({ account: place.id, user: ada.id, roles: ['r'] })
  await store.members.insert(joined)
  const own = new Sessions(store, clock)
  const proof = { method: 'password', secondFactor: false, at: clock.now() } as const
  const parent = await own.begin(ada, proof, visit)
  const tags = new TokenTags(store)
  const sites = new SiteSessions(store, tags, clock)
  const verifier = newValue().value
  const code = await sites.issueCode(parent.session, { site, challenge: challengeOf(verifier) })
  const value = (await sites.begin(code, site, verifier))!
  const sessions = new KnownSiteSessions({ store, tags, grace: hour, clock })
  const found = (await sessions.find(value))!
  const { mock } = t.mock.method(store.credentials, 'get')
  const queries = () => mock.callCount()
  /** Lets time pass, of which the store has told every change. */
  const pass = (ms: number) => {
    clock.advance(ms)
    return until(() => store.changes.knownUntil >= clock.monotonic())
  }
  return { pass, clock, store, ada, place, joined, own, value, parent, sessions, found, queries }
}

test('a session that is known costs no query for five minutes, and then counts as used', async t => {
  const { pass, sessions, value, found, queries } = await remembered(t)
  const digest = digestOfValue(value)
  await pass(5 * 60_000 - 1)
  assert.equal(sessions.find(value), found)
  assert.equal(sessions.review(digest), found)
  assert.deepEqual([sessions.isCurrent(found), sessions.isCurrent({ ...found })], [true, false])
  assert.equal(sessions.isCurrent({ ...found, digest: 'e'.repeat(64) }), false)
  assert.equal(queries(), 0)
  await pass(1)
  assert.equal(sessions.isCurrent(found), false)
  assert.equal(sessions.review(digest), found)
  assert.equal(queries(), 0)
  const again = (await sessions.find(value))!
  assert.notEqual(again, found)
  assert.equal(again.endsAt, found.endsAt + 5 * 60_000)
  assert.ok(queries() > 0)
})

test('a session that is known ends in its moment', async t => {
  const { clock, sessions, value, found } = await remembered(t)
  assert.equal(sessions.isCurrent(found), true)
  // Only the time of day leaps.
  const { mock } = t.mock.method(clock, 'now', () => found.endsAt - 1)
  assert.deepEqual([sessions.isCurrent(found), sessions.find(value)], [true, found])
  mock.mockImplementation(() => found.endsAt)
  assert.deepEqual([sessions.isCurrent(found), sessions.find(value)], [false, null])
})

test('a session that is known is forgotten with what it is made of, and with nothing else', async t => {
  const { store, ada, place, joined, own, value, parent, sessions, found, queries } = await remembered(t)
  const bob = newUser()
  await store.users.insert(bob)
  await store.accounts.insert(account())
  const foreign = await own.begin(bob, { method: 'password', secondFactor: false, at: null }, visit)
  await own.end(foreign.value)
  assert.equal(sessions.find(value), found)
  assert.equal(queries(), 0)
  const memberships = async () => (await sessions.find(value))?.memberships.map(({ roles }) => roles) ?? null
  const member = (await store.members.get(place.id, joined.id))!
  await store.members.replace({ ...member.record, roles: ['s'] }, member.version)
  assert.deepEqual(await memberships(), [['s']])
  await store.accounts.update(place.id, { enforceTwoFactor: true })
  assert.deepEqual(await memberships(), [])
  const { record, version } = (await store.users.get(ada.account, ada.id))!
  await store.users.replace({ ...record, passwordChangedAt: 7 }, version)
  assert.equal(await memberships(), null)
  await store.users.replace(record, (await store.users.get(ada.account, ada.id))!.version)
  assert.deepEqual(await memberships(), [])
  assert.equal(await own.endAll(ada.id), 1)
  assert.equal(await memberships(), null)
  assert.equal(await own.end(parent.value), false)
})
