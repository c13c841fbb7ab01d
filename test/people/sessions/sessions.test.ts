import assert from 'node:assert/strict'
import { isStale } from '../../../src/people/sessions/sessions.ts'
import { beginEnrolment } from '../../../src/people/second-factor/second-factor.ts'
import { digestOfValue } from '../../../src/people/records/secret-value.ts'
import type { User } from '../../../src/store/records/people.ts'
import { onStores, type Village, visit } from '../on-stores.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

const begin = (village: Village, user: User, replaced: string | null = null) =>
  village.parts.sessions.begin(
    user,
    { method: 'password', secondFactor: false, at: village.clock.now() },
    visit,
    replaced,
  )

onStores('a session is found by its value, which no store has', async village => {
  const { sessions } = village.parts
  const user = await village.settle()
  const { value, session } = await begin(village, user)
  assert.match(value, /^[\w-]{43}$/)
  assert.equal(session.id, digestOfValue(value))
  assert.deepEqual(await sessions.find(value), { session, user })
  assert.deepEqual(
    [session.user, session.method, session.address, session.userAgent],
    [user.id, 'password', visit.address, visit.userAgent],
  )
  const kept = await village.store.credentials.list({ user: user.id }, 'session', 10)
  assert.ok(!JSON.stringify(kept).includes(value))
  const other = (value[0] === 'A' ? 'B' : 'A') + value.slice(1)
  for (const wrong of ['', 'x', other, session.id, `${value} `])
    assert.equal(await sessions.find(wrong), null)
})

onStores('a session ends 12 hours after its last use, and 7 days after its begin', async village => {
  const { sessions } = village.parts
  const { value: idle } = await begin(village, await village.settle())
  const { value: busy } = await begin(village, await village.settle())
  const start = village.clock.now()
  village.clock.advance(12 * hour - minute)
  assert.ok(await sessions.find(busy))
  village.clock.advance(2 * minute)
  assert.equal(await sessions.find(idle), null)
  while (village.clock.now() + 10 * hour < start + 7 * day) {
    assert.ok(await sessions.find(busy))
    village.clock.advance(10 * hour)
  }
  assert.ok(await sessions.find(busy))
  village.clock.advance(start + 7 * day - village.clock.now() + minute)
  assert.equal(await sessions.find(busy), null)
})

onStores('a clock that is set back makes no session last longer', async village => {
  const { sessions } = village.parts
  const user = await village.settle()
  const right = village.clock.now()
  village.clock.advance(3 * hour)
  const { value } = await begin(village, user)
  village.clock.advance(-3 * hour)
  const { session } = (await sessions.find(value))!
  for (const time of [session.createdAt, session.usedAt, session.authenticatedAt!])
    assert.ok(time >= right && time < right + hour)
  assert.equal(isStale(session, village.clock.now() + 31 * minute), true)
  village.clock.advance(12 * hour + minute)
  assert.equal(await sessions.find(value), null)

  village.clock.advance(30 * day)
  const { value: far } = await begin(village, user)
  village.clock.advance(-30 * day)
  assert.equal(await sessions.find(far), null, 'nobody knows when it was used')
})

onStores('the time of the last use is written every five minutes, not by each request', async village => {
  const { sessions } = village.parts
  const user = await village.settle()
  const { value, session } = await begin(village, user)
  const keptUse = async () => (await sessions.list(user.id))[0]!.usedAt
  village.clock.advance(4 * minute)
  await sessions.find(value)
  assert.equal(await keptUse(), session.usedAt)
  village.clock.advance(2 * minute)
  await sessions.find(value)
  assert.ok((await keptUse()) >= session.usedAt + 6 * minute)
})

onStores('a use that comes after the end of a session does not bring it back', async village => {
  const { sessions } = village.parts
  const user = await village.settle()
  const { value } = await begin(village, user)
  village.clock.advance(6 * minute)
  await Promise.all([sessions.find(value), sessions.endAll(user.id), sessions.find(value)])
  assert.equal(await sessions.find(value), null)
  assert.deepEqual(await sessions.list(user.id), [])
})

onStores('the account that was seen last is kept with a session, and brings none back', async village => {
  const { sessions } = village.parts
  const user = await village.settle()
  const { value, session } = await begin(village, user)
  assert.equal(session.account, undefined)
  await sessions.noteAccount(session, 'a'.repeat(32))
  const noted = { ...session, account: 'a'.repeat(32) }
  assert.deepEqual(await sessions.find(value), { session: noted, user })
  village.clock.advance(6 * minute)
  assert.equal((await sessions.find(value))!.session.account, noted.account)
  await sessions.end(value)
  await sessions.noteAccount(session, 'b'.repeat(32))
  assert.equal(await sessions.find(value), null)
})

onStores('what the browser had before ends at sign-in', async village => {
  const { sessions } = village.parts
  const user = await village.settle()
  const { value: first } = await begin(village, user)
  const { value: second } = await begin(village, user, first)
  assert.notEqual(second, first)
  assert.equal(await sessions.find(first), null)
  assert.ok(await sessions.find(second))
})

onStores('a proof in between gives another value and makes a session fresh, not longer', async village => {
  const { sessions, clock } = village.parts
  const user = await village.settle()
  const { value, session } = await begin(village, user)
  village.clock.advance(31 * minute)
  assert.equal(isStale(session, clock!.now()), true)
  const renewed = (await sessions.renew(session, clock!.now()))!
  assert.notEqual(renewed.value, value)
  assert.equal(await sessions.find(value), null)
  const found = (await sessions.find(renewed.value))!.session
  assert.equal(isStale(found, clock!.now()), false)
  assert.equal(found.createdAt, session.createdAt)
})

onStores('a session that ended meanwhile gets no other value', async village => {
  const { sessions, clock } = village.parts
  const user = await village.settle()
  const { session } = await begin(village, user)
  await sessions.endEverything(user.id)
  assert.equal(await sessions.renew(session, clock!.now()), null)
  assert.deepEqual(await sessions.list(user.id), [])
})

onStores('a user lists and ends their sessions, and none of another user', async village => {
  const { sessions } = village.parts
  const [user, other] = [await village.settle(), await village.settle()]
  const first = await begin(village, user)
  village.clock.advance(minute)
  const second = await begin(village, user)
  const foreign = await begin(village, other)
  assert.deepEqual(
    (await sessions.list(user.id)).map(({ id }) => id),
    [second.session.id, first.session.id],
  )
  assert.equal(await sessions.endOne(user.id, foreign.session.id), false)
  assert.equal(await sessions.endOne(user.id, first.session.id), true)
  assert.equal(await sessions.endOne(user.id, first.session.id), false)
  assert.equal(await sessions.find(first.value), null)
  assert.equal(await sessions.end(second.value), true)
  assert.deepEqual(await sessions.list(user.id), [])
  assert.ok(await sessions.find(foreign.value))
})

onStores(
  'a session is worth nothing once its user is gone, or has changed the password since the proof',
  async village => {
    const { sessions, store } = village.parts
    const user = await village.settle()
    const { value } = await begin(village, user)
    const kept = (await store.users.get(user.account, user.id))!
    village.clock.advance(1_000)
    const changed = { ...user, passwordChangedAt: village.clock.now() }
    await store.users.replace(changed, kept.version)
    assert.equal(await sessions.find(value), null)
    village.clock.advance(1_000)
    const { value: late } = await begin(village, user)
    assert.equal(await sessions.find(late), null, 'the old password was found right while it was changed')
    const { value: later } = await begin(village, changed)
    assert.ok(await sessions.find(later))
    await store.users.remove(user.account, user.id)
    assert.equal(await sessions.find(later), null)
  },
)

onStores(
  'a password that was changed where the clock is ahead opens sessions everywhere at once',
  async village => {
    const { sessions, clock } = village.parts
    const user = await village.settle({ passwordChangedAt: clock!.now() + minute })
    const { value } = await begin(village, user)
    assert.ok(await sessions.find(value))
  },
)

onStores(
  'a session without the second factor is worth nothing once its user has one, and one with it stays',
  async village => {
    const { sessions, store } = village.parts
    const user = await village.settle()
    const { value } = await begin(village, user)
    const { user: enrolling } = beginEnrolment(user, village.keys)!
    const confirmed = { ...enrolling, totp: { ...enrolling.totp!, confirmedAt: village.clock.now() } }
    for (const [now, isFound] of [
      [enrolling, true],
      [confirmed, false],
    ] as const) {
      await store.users.replace(now, (await store.users.get(user.account, user.id))!.version)
      assert.equal((await sessions.find(value)) !== null, isFound)
    }
    const { value: later } = await begin(village, confirmed)
    assert.ok(await sessions.find(later))
    const without = { ...confirmed, totp: null }
    await store.users.replace(without, (await store.users.get(user.account, user.id))!.version)
    assert.ok(await sessions.find(later))
  },
)

onStores('a session is ended for every process at once', async village => {
  const { value, session } = await begin(village, await village.settle())
  const there = await village.elsewhere()
  assert.deepEqual((await there.sessions.find(value))!.session, session)
  await village.parts.sessions.end(value)
  assert.equal(await there.sessions.find(value), null)
})

onStores(
  'a user has a hundred sessions at most: with one more, the one that ends first is over',
  async village => {
    const { sessions } = village.parts
    const user = await village.settle()
    const all: string[] = []
    for (let i = 0; i < 103; i++) {
      village.clock.advance(1_000)
      all.push((await begin(village, user)).value)
    }
    assert.equal((await sessions.list(user.id)).length, 100)
    const found = await Promise.all(all.map(value => sessions.find(value)))
    assert.deepEqual(
      found.map(one => one !== null),
      all.map((_, i) => i >= 3),
    )
  },
)

onStores('what a browser says of itself is cut, or absent', async village => {
  const { sessions, clock } = village.parts
  const user = await village.settle()
  const proof = { method: 'openid', secondFactor: false, at: null } as const
  const userAgentOf = async (userAgent: string | null) =>
    (await sessions.begin(user, proof, { ...visit, userAgent })).session.userAgent
  assert.deepEqual(
    [(await userAgentOf('x'.repeat(300)))?.length, await userAgentOf('Firefox'), await userAgentOf(null)],
    [256, 'Firefox', null],
  )
  const { value, session } = await sessions.begin(user, proof, visit)
  assert.equal(isStale(session, clock.now()), true, 'nobody knows when they proved it')
  village.clock.advance(6 * minute)
  assert.equal((await sessions.find(value))!.session.authenticatedAt, null)
  const fresh = { ...session, authenticatedAt: 7 }
  assert.deepEqual([isStale(fresh, 7 + 30 * minute), isStale(fresh, 8 + 30 * minute)], [false, true])
})

onStores('sessions are listed by their last use, however soon they end', async village => {
  const { sessions } = village.parts
  const user = await village.settle()
  const old = await begin(village, user)
  for (let hours = 0; hours < 160; hours += 10) {
    village.clock.advance(10 * hour)
    assert.ok(await sessions.find(old.value))
  }
  const young = await begin(village, user)
  const ids = async () => (await sessions.list(user.id)).map(({ id }) => id)
  assert.deepEqual(await ids(), [young.session.id, old.session.id])
  village.clock.advance(hour)
  assert.ok(await sessions.find(old.value))
  assert.deepEqual(await ids(), [old.session.id, young.session.id])
})
