import assert from 'node:assert/strict'
import { setFips } from 'node:crypto'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { readPhc } from '../../../src/people/passwords/argon2.ts'
import { passwordFlaw } from '../../../src/people/passwords/password-rules.ts'
import { Passwords } from '../../../src/people/passwords/passwords.ts'
import { cheap } from '../cheap.ts'
import { costOf, sum } from '../cost.ts'

const password = 'correct horse battery'

test('a password matches its digest and no other, and the digest has its parameters', async () => {
  const passwords = new Passwords({ cost: cheap })
  const kept = (await passwords.hash(password))!
  assert.match(kept, /^\$argon2id\$v=19\$m=64,t=1,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  assert.deepEqual(await passwords.verify(password, kept), { matches: true, isOutdated: false })
  for (const other of ['', 'correct horse batterx', `${password} `, 'x'.repeat(2_000)])
    assert.deepEqual(await passwords.verify(other, kept), { matches: false, isOutdated: false }, other)
  assert.notEqual(await passwords.hash(password), kept)
})

test('a password is the same however a keyboard composes it', async () => {
  const passwords = new Passwords({ cost: cheap })
  const kept = await passwords.hash('schönes wetter heute')
  assert.equal((await passwords.verify('scho\u0308nes wetter heute', kept))!.matches, true)
})

test('a digest of another cost still matches, and is told to be outdated', async () => {
  const kept = await new Passwords({ cost: cheap }).hash(password)
  const raised = new Passwords({ cost: { ...cheap, passes: 2 } })
  assert.deepEqual(await raised.verify(password, kept), { matches: true, isOutdated: true })
  assert.deepEqual(await raised.verify('another password', kept), { matches: false, isOutdated: false })
})

test('in FIPS mode none is taken and none matches, since there is no Argon2', async t => {
  const passwords = new Passwords({ cost: cheap })
  const kept = await passwords.hash(password)
  t.after(() => setFips(false))
  setFips(true)
  assert.equal(passwordFlaw(password, []), 'fips')
  assert.deepEqual(await passwords.verify(password, kept), { matches: false, isOutdated: false })
  await assert.rejects(passwords.hash(password))
})

test('nothing matches where nothing is kept, or what is no digest', async () => {
  const passwords = new Passwords({ cost: cheap })
  for (const kept of [null, '', password, '$argon2id$v=19$m=999999999,t=1,p=1$c2FsdHNhbHRzYWx0$ZGlnZXN0'])
    assert.deepEqual(await passwords.verify(password, kept), { matches: false, isOutdated: false })
})

test('two are computed at once and a bounded number waits; the rest is turned away at once', async () => {
  const passwords = new Passwords({ cost: cheap, atOnce: 2, maxQueued: 3 })
  const all = Array.from({ length: 8 }, () => passwords.hash(password))
  assert.deepEqual(
    (await Promise.all(all)).map(digest => digest !== null),
    [true, true, true, true, true, false, false, false],
  )
  assert.notEqual(await passwords.hash(password), null)
})

test('a digest that cannot be computed leaves its turn to the next', async () => {
  const passwords = new Passwords({ cost: { ...cheap, memory: 1 }, atOnce: 1 })
  for (let i = 0; i < 3; i++) await assert.rejects(passwords.hash(password))
})

test('at the usual cost the event loop goes on, and a stranger costs what a user does', async () => {
  const passwords = new Passwords()
  const kept = await passwords.hash(password)
  const { memory, passes } = readPhc(kept!)!
  assert.ok(memory * passes >= 2 * 19_456, 'no less than OWASP asks for')
  let isDone = false
  let turns = 0
  const working = passwords.verify('another password', kept).finally(() => {
    isDone = true
  })
  for (; !isDone; turns++) await turn()
  await working
  assert.ok(turns > 10, `the loop turned ${turns} times`)
  const costs = { user: [] as number[], stranger: [] as number[] }
  for (let i = 0; i < 10; i++) {
    costs.user.push((await costOf(() => passwords.verify('another password', kept))).processor)
    costs.stranger.push((await costOf(() => passwords.verify('another password', null))).processor)
  }
  const ratio = sum(costs.user) / sum(costs.stranger)
  assert.ok(ratio > 0.67 && ratio < 1.5, String(ratio))
})
