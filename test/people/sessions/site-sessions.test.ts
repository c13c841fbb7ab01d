import assert from 'node:assert/strict'
import { digestOfValue, newValue } from '../../../src/people/records/secret-value.ts'
import { KnownSiteSessions } from '../../../src/people/sessions/known-site-sessions.ts'
import { challengeOf, SiteSessions } from '../../../src/people/sessions/site-sessions.ts'
import { onStores, type Village, visit } from '../on-stores.ts'

const minute = 60_000
const hour = 60 * minute
const site = 'https://app.example:8443'
const host = 'app.example'

/** A person who has signed in at our pages, and what their browser and a site know of each other. */
async function signedIn(village: Village) {
  const user = await village.settle()
  const proof = { method: 'password', secondFactor: false, at: village.clock.now() } as const
  const { value, session } = await village.parts.sessions.begin(user, proof, visit)
  const verifier = newValue().value
  const request = { site, challenge: challengeOf(verifier) }
  const sites = new SiteSessions(village.store, village.tags, village.clock)
  const begin = async () => (await sites.begin(await sites.issueCode(session, request), site, verifier))!
  return { user, value, session, verifier, request, sites, begin }
}

onStores('a session at a site is found by its digest, and names who it is', async village => {
  const { sites, begin, session, user } = await signedIn(village)
  const value = await begin()
  const found = (await sites.find(digestOfValue(value)))!
  assert.deepEqual([found.host, found.user, found.parent.id], [host, user, session.id])
  const stored = await village.store.credentials.list({ user: user.id }, 'site_session', 10)
  assert.equal(stored.length, 1)
  assert.doesNotMatch(JSON.stringify(stored), new RegExp(value))
  assert.equal(await sites.find(digestOfValue(session.id)), null)
})

onStores('a code begins one session, for its site and browser, within a minute', async village => {
  const { sites, session, request, verifier } = await signedIn(village)
  const issue = () => sites.issueCode(session, request)
  const code = await issue()
  const raced = await Promise.all([1, 2, 3].map(() => sites.begin(code, site, verifier)))
  assert.equal(raced.filter(value => value !== null).length, 1)
  assert.equal(await sites.begin(code, site, verifier), null)
  assert.equal(await sites.begin(await issue(), 'https://other.example', verifier), null)
  assert.equal(await sites.begin(await issue(), 'https://app.example', verifier), null)
  assert.equal(await sites.begin(await issue(), 'http://app.example:8443', verifier), null)
  assert.equal(await sites.begin(await issue(), site, newValue().value), null)
  assert.equal(await sites.begin(await issue(), site, request.challenge), null)
  for (const wrong of ['', 'x', newValue().value, session.id])
    assert.equal(await sites.begin(wrong, site, verifier), null)
  const late = await issue()
  village.clock.advance(minute + 1)
  assert.equal(await sites.begin(late, site, verifier), null)
  const early = await issue()
  village.clock.advance(-2 * minute)
  assert.equal(await sites.begin(early, site, verifier), null, 'the clock was set back')
})

onStores('a session at a site ends with the one that it came of', async village => {
  const { sessions } = village.parts
  const ways = [
    ({ value }: Awaited<ReturnType<typeof signedIn>>) => sessions.end(value),
    ({ user, session }: Awaited<ReturnType<typeof signedIn>>) => sessions.endOne(user.id, session.id),
    ({ user }: Awaited<ReturnType<typeof signedIn>>) => sessions.endAll(user.id),
    ({ user }: Awaited<ReturnType<typeof signedIn>>) => sessions.endEverything(user.id),
    ({ user }: Awaited<ReturnType<typeof signedIn>>) => village.store.users.remove(user.account, user.id),
  ]
  for (const end of ways) {
    const person = await signedIn(village)
    const [value, code] = [await person.begin(), await person.sites.issueCode(person.session, person.request)]
    await end(person)
    assert.equal(await person.sites.find(digestOfValue(value)), null, String(end))
    assert.equal(await person.sites.begin(code, site, person.verifier), null, String(end))
  }
})

onStores('it goes on while the person proves again who they are', async village => {
  const { sites, begin, session } = await signedIn(village)
  const value = await begin()
  const renewed = (await village.parts.sessions.renew(session, village.clock.now()))!
  assert.equal((await sites.find(digestOfValue(value)))!.parent.id, renewed.session.id)
})

onStores(
  'its use counts as one of the session at our pages, which ends after a week all the same',
  async village => {
    const { sites, begin } = await signedIn(village)
    const digest = digestOfValue(await begin())
    for (let hours = 0; hours < 160; hours += 10) {
      village.clock.advance(10 * hour)
      assert.notEqual(await sites.find(digest), null)
    }
    village.clock.advance(8 * hour + minute)
    assert.equal(await sites.find(digest), null)
  },
)

onStores('it ends in time though the clock is set forth or back', async village => {
  const { sites, begin } = await signedIn(village)
  const known = new KnownSiteSessions({
    ...{ store: village.store, tags: village.tags },
    grace: hour,
    clock: village.clock,
  })
  const value = await begin()
  const digest = digestOfValue(value)
  assert.notEqual(await known.find(value), null)
  village.clock.advance(12 * hour + minute)
  assert.equal(await known.find(value), null)
  assert.equal(await sites.find(digest), null)
  village.clock.advance(-12 * hour)
  assert.notEqual(await sites.find(digest), null)
  village.clock.advance(-2 * hour)
  const { endsAt } = (await sites.find(digest))!
  assert.ok(endsAt <= village.clock.now() + 12 * hour)
})

onStores('it ends where it is told to, and the others do not', async village => {
  const { sites, begin, value } = await signedIn(village)
  const [first, second] = [await begin(), await begin()]
  assert.equal(await sites.end(first), true)
  assert.equal(await sites.end(first), false)
  assert.equal(await sites.find(digestOfValue(first)), null)
  assert.notEqual(await sites.find(digestOfValue(second)), null)
  assert.notEqual(await village.parts.sessions.find(value), null)
})

onStores('a person has at most a hundred', async village => {
  const { begin, user } = await signedIn(village)
  for (let i = 0; i < 101; i++) await begin()
  const all = await village.store.credentials.list({ user: user.id }, 'site_session', 200)
  assert.equal(all.length, 100)
})

onStores('only memberships count that were accepted and meet what their account requires', async village => {
  const { sites, begin, user } = await signedIn(village)
  const find = async () => (await sites.find(digestOfValue(value)))!.memberships
  const value = await begin()
  assert.deepEqual(await find(), [])
  const [joined, invited] = [await village.found(), await village.found()]
  const { account, roles } = await village.join(user, joined)
  await village.join(user, invited, { status: 'pending' })
  assert.deepEqual(await find(), [{ account, roles }])
  await village.store.accounts.update(account, { enforceTwoFactor: true })
  assert.deepEqual(await find(), [])
})

onStores('a session at our pages and one at a site are of the same person', async village => {
  const { sites, begin, session, request, verifier } = await signedIn(village)
  const { id: other } = await village.settle()
  const code = await sites.issueCode({ id: session.id, user: other }, request)
  assert.equal(await sites.begin(code, site, verifier), null)
  const digest = digestOfValue(await begin())
  const { credentials } = village.store
  const stored = (await credentials.get('site_session', digest))!
  await credentials.put({ ...stored, digest: 'e'.repeat(64), user: other })
  assert.equal(await sites.find('e'.repeat(64)), null)
  assert.notEqual(await sites.find(digest), null)
})
