// The promises of a store about sealed answers of AI models.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { type AnswerPlace, partSize } from '../../src/store/answers/answer.ts'
import { boundsWithin } from './answer-bounds.ts'
import { nextTurn } from '../../src/base/turns/turns.ts'
import type { Place } from './contract.ts'
import { ContractClock } from './contract-clock.ts'
import { account, gateway, hex } from './contract-specimens.ts'

const hour = 3_600_000
const mebibyte = 1024 * 1024
const wide = boundsWithin({ bytes: 1024 * mebibyte, entries: 100_000 }, 11 * mebibyte)

async function setUp(place: Place, t: TestContext) {
  const open = await place(t)
  const clock = new ContractClock()
  const store = await open(clock)
  const owner = hex(16)
  const at = (key: string, more: Partial<AnswerPlace> = {}): AnswerPlace => ({
    ...{ account: owner, gateway: 'default', key },
    ...more,
  })
  const end = () => clock.now() + hour
  return { open, clock, store, answers: store.answers, owner, at, end }
}

export function answersContract(name: string, place: Place): void {
  test(`${name}: an answer is read as it was written, by its place alone, until it expires`, async t => {
    const { answers, clock, at, end } = await setUp(place, t)
    const sealed = Buffer.from([0, 255, 13, 10, 128, 0])
    assert.equal(await answers.write(at('k'), sealed, end(), wide), true)
    assert.deepEqual(Buffer.from((await answers.read(at('k')))!), sealed)
    for (const other of [at('K'), at('k', { gateway: 'other' }), at('k', { account: hex(16) })])
      assert.equal(await answers.read(other), null)
    clock.advance(hour)
    assert.equal(await answers.read(at('k')), null)
  })

  test(`${name}: answers of every size come back whole, up to 10 MiB`, async t => {
    const { answers, at, end } = await setUp(place, t)
    const sizes = [0, 1, partSize - 1, partSize, partSize + 1, 3 * partSize, 10 * mebibyte]
    const sent = sizes.map(size => randomBytes(size))
    await Promise.all(sent.map((bytes, i) => answers.write(at(`k${i}`), bytes, end(), wide)))
    for (const [i, bytes] of sent.entries())
      assert.ok(bytes.equals((await answers.read(at(`k${i}`)))!), `${bytes.length} bytes`)
  })

  test(`${name}: others read the previous answer until the next is whole, never a mixture`, async t => {
    const { open, answers, at, end } = await setUp(place, t)
    const reader = (await open()).answers
    const versions = [1, 2, 3].map(i => Buffer.alloc(8 * partSize + i, i))
    await answers.write(at('k'), versions[0]!, end(), wide)
    let isOver = false
    const writing = (async () => {
      for (const bytes of versions.slice(1)) await answers.write(at('k'), bytes, end(), wide)
      isOver = true
    })()
    while (!isOver) {
      const bytes = await reader.read(at('k'))
      // One that was replaced while it was read is none.
      if (bytes !== null) assert.ok(versions.some(version => version.equals(bytes)))
      await nextTurn()
    }
    await writing
    assert.ok(versions[2]!.equals((await reader.read(at('k')))!))
    assert.deepEqual(await answers.sum(at('k').account), { bytes: versions[2]!.length, entries: 1 })
  })

  test(`${name}: beyond the bounds of a gateway and an account the oldest answers make room`, async t => {
    const { answers, owner, at, end } = await setUp(place, t)
    const bounds = {
      ...{ answer: 100, all: { bytes: 9_999, entries: 999 } },
      ...{ gateway: { bytes: 250, entries: 5 }, account: { bytes: 400, entries: 6 } },
    }
    const write = (key: string, size: number, of = 'default') =>
      answers.write(at(key, { gateway: of }), Buffer.alloc(size), end(), bounds)
    const present = async (of = 'default') => {
      const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
      const read = await Promise.all(keys.map(key => answers.read(at(key, { gateway: of }))))
      return keys.filter((_, i) => read[i] !== null).join('')
    }
    assert.equal(await write('a', 101), false)
    for (const key of ['a', 'b', 'c']) await write(key, 100)
    assert.equal(await present(), 'bc')
    for (const key of ['d', 'e', 'f', 'g']) await write(key, 10)
    assert.equal(await present(), 'cdefg', 'five entries')
    assert.deepEqual(await answers.sum(owner, 'default'), { bytes: 140, entries: 5 })
    await write('a', 100, 'other')
    await write('b', 100, 'other')
    assert.deepEqual([await present(), await present('other')], ['defg', 'ab'], 'six entries of the account')
    assert.deepEqual(await answers.sum(owner), { bytes: 240, entries: 6 })
    assert.deepEqual(await answers.sum(owner, 'other'), { bytes: 200, entries: 2 })
    assert.deepEqual(await answers.sum(hex(16)), { bytes: 0, entries: 0 })
  })

  test(`${name}: a lowered bound makes room for thousands in steps`, async t => {
    const { answers, owner, at, end } = await setUp(place, t)
    await Promise.all(
      Array.from({ length: 700 }, (_, i) => answers.write(at(`k${i}`), Buffer.alloc(1), end(), wide)),
    )
    assert.equal((await answers.sum(owner)).entries, 700)
    await answers.write(at('last'), Buffer.alloc(1), end(), boundsWithin({ bytes: 99, entries: 6 }, 9))
    assert.deepEqual(await answers.sum(owner), { bytes: 3, entries: 3 })
    assert.notEqual(await answers.read(at('last')), null)
  })

  test(`${name}: a gateway's answers are erased, and no others`, async t => {
    const { answers, owner, at, end } = await setUp(place, t)
    const places = [at('a'), at('b'), at('a', { gateway: 'other' }), at('a', { account: hex(16) })]
    for (const one of places) await answers.write(one, Buffer.alloc(3 * partSize), end(), wide)
    await answers.eraseGateway(owner, 'default')
    const present = () => Promise.all(places.map(async one => (await answers.read(one)) !== null))
    assert.deepEqual(await present(), [false, false, true, true])
    assert.equal(await answers.remove(places[2]!), true)
    assert.equal(await answers.remove(places[2]!), false)
    await answers.eraseAccount(places[3]!.account)
    assert.deepEqual(await present(), [false, false, false, false])
    assert.deepEqual(await answers.sum(owner), { bytes: 0, entries: 0 })
  })

  test(`${name}: a sweep removes what has expired, what has no gateway, and the excess of all`, async t => {
    const { store, answers, clock, at, end } = await setUp(place, t)
    const [one, other] = [account(), account()]
    for (const owner of [one, other]) {
      await store.accounts.insert(owner)
      await store.gateways.insert(gateway({ account: owner.id }))
    }
    const write = (key: string, more: Partial<AnswerPlace>, until = end()) =>
      answers.write(at(key, { account: one.id, ...more }), Buffer.alloc(100), until, wide)
    await write('a', {}, clock.now() + 1_000)
    await write('a', { gateway: 'gone' })
    clock.advance(1_000)
    for (let i = 0; i < 4; i++) await write(`b${i}`, {})
    for (let i = 0; i < 2; i++) await write(`b${i}`, { account: other.id })
    await answers.sweep(1_000)
    assert.deepEqual(await answers.sum(one.id), { bytes: 400, entries: 4 })
    assert.deepEqual(await answers.total(), { bytes: 600, entries: 6 })
    await answers.sweep(300)
    assert.deepEqual(await answers.total(), { bytes: 300, entries: 3 })
    assert.equal(await answers.read(at('b0', { account: one.id })), null)
    await store.gateways.remove(one.id, 'default')
    await answers.sweep(1_000)
    assert.deepEqual(await answers.sum(one.id), { bytes: 0, entries: 0 })
  })
}
