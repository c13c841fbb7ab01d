// The promises of a store about claims of calls that must not run twice.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ClaimAsk } from '../../src/store/answers/answer.ts'
import type { Place } from './contract.ts'
import { ContractClock } from './contract-clock.ts'
import { hex } from './contract-specimens.ts'

const day = 86_400_000
const lease = 15_000
const wide = { maxClaims: 999, maxOfOwner: 999 }

async function setUp(place: Place, t: TestContext) {
  const open = await place(t)
  const clock = new ContractClock()
  const { claims } = await open(clock)
  const owner = hex(16)
  const ask = (more: Partial<ClaimAsk> = {}): ClaimAsk => ({
    ...{ account: owner, gateway: 'default', key: 'k', owner: 'o', fingerprint: 'f', holder: 'h.1', lease },
    ...{ expiresAt: clock.now() + day, note: 'ray 1', maxClaims: 9, maxOfOwner: 9, ...more },
  })
  return { open, clock, claims, owner, ask }
}

const taken = (state: string, more = {}) => ({
  outcome: 'taken',
  claim: { state, fingerprint: 'f', holder: 'h.1', note: 'ray 1', ...more },
})

export function claimsContract(name: string, place: Place): void {
  test(`${name}: of 64 callers in four processes, one has the call`, async t => {
    const { open, ask } = await setUp(place, t)
    const stores = await Promise.all(Array.from({ length: 4 }, () => open()))
    const replies = await Promise.all(
      Array.from({ length: 64 }, (_, i) => stores[i % 4]!.claims.claim(ask({ holder: `h.${i}` }))),
    )
    const winners = replies.flatMap(({ outcome }, i) => (outcome === 'new' ? [i] : []))
    assert.equal(winners.length, 1)
    for (const reply of replies)
      if (reply.outcome === 'taken') assert.equal(reply.claim.holder, `h.${winners[0]}`)
    assert.deepEqual(replies.filter(({ outcome }) => outcome === 'taken').length, 63)
  })

  test(`${name}: a claim that its holder does not renew is lost, and never another's`, async t => {
    const { claims, clock, ask } = await setUp(place, t)
    assert.deepEqual(await claims.claim(ask()), { outcome: 'new' })
    assert.deepEqual(await claims.claim(ask()), { outcome: 'new' }, 'the reply was lost, and it asks again')
    const other = ask({ holder: 'h.2', note: 'ray 2', fingerprint: 'g' })
    assert.deepEqual(await claims.claim(other), taken('running'))
    clock.advance(lease - 1_000)
    assert.equal(await claims.renew(ask(), 'h.1', lease), true)
    assert.equal(await claims.renew(ask(), 'h.2', lease), false)
    clock.advance(lease - 1_000)
    assert.deepEqual(await claims.claim(other), taken('running'))
    clock.advance(1_000)
    assert.deepEqual(await claims.claim(other), taken('lost'))
    assert.deepEqual(await claims.look(other), taken('lost').claim)
    assert.equal(await claims.settle(other, 'h.2', ''), false)
    assert.equal(await claims.release(other, 'h.2'), false)
    assert.equal(await claims.renew(ask(), 'h.1', lease), true, 'it was only slow')
    assert.deepEqual(await claims.look(other), taken('running').claim)
  })

  test(`${name}: a claim that is done stays so until it expires; one that was released is free`, async t => {
    const { claims, clock, ask } = await setUp(place, t)
    await claims.claim(ask())
    assert.equal(await claims.settle(ask(), 'h.1', 'ray 1 done'), true)
    const done = taken('done', { note: 'ray 1 done' })
    assert.deepEqual(await claims.claim(ask({ holder: 'h.2' })), done)
    assert.deepEqual(await claims.claim(ask()), done, 'not even its holder has it again')
    assert.equal(await claims.settle(ask(), 'h.1', ''), false)
    assert.equal(await claims.release(ask(), 'h.1'), false)
    assert.equal(await claims.renew(ask(), 'h.1', lease), false)
    clock.advance(day)
    assert.equal(await claims.look(ask()), null)
    assert.deepEqual(await claims.claim(ask({ holder: 'h.3' })), { outcome: 'new' })
    assert.equal(await claims.release(ask(), 'h.3'), true)
    assert.equal(await claims.look(ask()), null)
    assert.deepEqual(await claims.claim(ask({ holder: 'h.4' })), { outcome: 'new' })
  })

  test(`${name}: equal keys of other gateways and accounts are other calls`, async t => {
    const { claims, ask } = await setUp(place, t)
    for (const more of [{}, { gateway: 'other' }, { account: hex(16) }, { key: 'K' }])
      assert.deepEqual(await claims.claim(ask(more)), { outcome: 'new' })
  })

  test(`${name}: an account with too many claims gets no more until some expire or are released`, async t => {
    const { claims, clock, ask } = await setUp(place, t)
    const expiresAt = clock.now() + day
    const claim = (key: string) =>
      claims.claim(ask({ key, expiresAt, maxClaims: 3 })).then(({ outcome }) => outcome)
    for (const key of ['a', 'b', 'c']) assert.equal(await claim(key), 'new')
    const full = { outcome: 'full', of: 'account', until: expiresAt }
    assert.deepEqual(await claims.claim(ask({ key: 'd', owner: 'other', maxClaims: 3 })), full)
    assert.equal(await claim('a'), 'new', 'its own')
    assert.deepEqual(await claims.claim(ask({ key: 'd', account: hex(16) })), { outcome: 'new' })
    await claims.release(ask({ key: 'b' }), 'h.1')
    assert.equal(await claim('d'), 'new')
    assert.equal(await claim('e'), 'full')
    clock.advance(day)
    assert.equal(await claim('e'), 'new')
  })

  test(`${name}: an owner with too many claims gets no more, and takes none from others`, async t => {
    const { claims, clock, ask } = await setUp(place, t)
    const first = clock.now() + day
    const claim = (key: string, more: Partial<ClaimAsk> = {}) =>
      claims.claim(ask({ key, expiresAt: first, maxOfOwner: 2, ...more }))
    assert.deepEqual(await claim('a'), { outcome: 'new' })
    assert.deepEqual(await claim('b', { gateway: 'other' }), { outcome: 'new' })
    assert.deepEqual(await claim('c'), { outcome: 'full', of: 'owner', until: first })
    assert.deepEqual(await claim('a'), { outcome: 'new' }, 'its own')
    assert.deepEqual(await claim('c', { owner: 'p' }), { outcome: 'new' })
    assert.deepEqual(await claim('d', { account: hex(16) }), { outcome: 'new' })
    assert.equal(await claims.release(ask({ key: 'b', gateway: 'other' }), 'h.1'), true)
    assert.deepEqual(await claim('d', { expiresAt: first + day }), { outcome: 'new' })
    assert.deepEqual(await claim('e'), { outcome: 'full', of: 'owner', until: first })
    clock.advance(day)
    const later = { expiresAt: first + 2 * day }
    assert.deepEqual(await claim('e', later), { outcome: 'new' }, 'the first one has expired')
    assert.deepEqual(await claim('f', later), { outcome: 'full', of: 'owner', until: first + day })
  })

  test(`${name}: claims are listed and put back as they are, with their counts`, async t => {
    const { open, claims, clock, owner, ask } = await setUp(place, t)
    for (let i = 0; i < 230; i++) {
      const expiresAt = clock.now() + day + (i % 7)
      const more = { gateway: `g${i % 3}`, owner: i < 200 ? 'o' : 'p', expiresAt }
      await claims.claim(ask({ key: `k${i}`, ...more, ...wide }))
    }
    await claims.claim(ask({ key: 'soon', ...wide, expiresAt: clock.now() + 1_000 }))
    await claims.claim(ask({ key: 'other', account: hex(16) }))
    await claims.settle(ask({ key: 'k1', gateway: 'g1' }), 'h.1', 'ray 1 made')
    clock.advance(1_000)
    const all = (await Array.fromAsync(claims.entries(owner))).flat()
    assert.equal(all.length, 230)
    assert.equal(new Set(all.map(({ gateway, key }) => `${gateway}/${key}`)).size, 230)
    const copy = await open(clock)
    const other = hex(16)
    const moved = all.map(entry => ({ ...entry, account: other }))
    for (let turn = 0; turn < 2; turn++)
      for (let from = 0; from < moved.length; from += 100)
        await copy.claims.restore(other, moved.slice(from, from + 100))
    const byKey = (one: { key: string }, two: { key: string }) => (one.key < two.key ? -1 : 1)
    const copied = (await Array.fromAsync(copy.claims.entries(other))).flat()
    assert.deepEqual(copied.toSorted(byKey), moved.toSorted(byKey))
    const at = { account: other, maxClaims: 231, maxOfOwner: 201, holder: 'h.2' }
    const [running, made] = [
      ask({ ...at, key: 'k0', gateway: 'g0' }),
      ask({ ...at, key: 'k1', gateway: 'g1' }),
    ]
    assert.deepEqual(await copy.claims.claim(running), taken('running'))
    assert.deepEqual(await copy.claims.claim(made), taken('done', { note: 'ray 1 made' }))
    clock.advance(lease)
    assert.deepEqual(await copy.claims.claim(running), taken('lost'))
    assert.equal(await copy.claims.renew(running, 'h.1', lease), true, 'its holder goes on')
    assert.equal((await copy.claims.claim(ask({ ...at, key: 'new' }))).outcome, 'new')
    assert.partialDeepStrictEqual(await copy.claims.claim(ask({ ...at, key: 'newer' })), { of: 'owner' })
    const others = ask({ ...at, key: 'newer', owner: 'p' })
    assert.partialDeepStrictEqual(await copy.claims.claim(others), { of: 'account' })
  })
}
