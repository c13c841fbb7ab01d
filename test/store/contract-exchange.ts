// The promises of a store about exchanges: what is given for a credential comes with its consumption or not at all, once, and a replay ends it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type Credential,
  type Exchange,
  isReplay,
  type Succession,
} from '../../src/store/records/credential.ts'
import type { Change } from '../../src/store/contract/store.ts'
import { until } from '../help/until.ts'
import type { Place } from './contract.ts'
import { ContractClock } from './contract-clock.ts'
import { type Outcome, startConsumer } from './consumers.ts'
import { credential } from './contract-specimens.ts'

const hour = 3_600_000

/** Asks for a pair of tokens for a credential. */
function exchangeOf({ kind, digest }: Credential, more: Partial<Exchange> = {}): Exchange {
  const issued = [credential('access_token'), credential('refresh_token')]
  return { kind, digest, at: 1_000, grace: 0, issued, end: credential('ended_family'), ...more }
}

/** Asks for the next pair of a refresh token, within its grace. */
function refreshOf(spent: Credential, end: Credential, at: number): Exchange {
  const asked = exchangeOf(spent, { at, grace: 30_000, end })
  return { ...asked, issued: [...asked.issued, familyOf(asked)] }
}

function familyOf({ digest, issued, end }: Exchange): Credential {
  const [access, refresh] = issued
  const last: Succession = { spent: digest, refresh: refresh!.digest, access: access!.digest }
  return credential('token_family', { digest: end.digest, data: { ...last } })
}

export function exchangeContract(name: string, place: Place): void {
  test(`${name}: an exchange consumes what it is for, and stores what is issued`, async t => {
    const open = await place(t)
    const [{ credentials }, other] = await Promise.all([open(), open()])
    for (const owners of [{}, { user: null, client: null, grant: null }]) {
      const code = credential('authorization_code', owners)
      await credentials.put(code)
      const asked = exchangeOf(code)
      assert.deepEqual(await credentials.exchange(asked), { outcome: 'issued', consumedAt: 1_000 })
      assert.deepEqual(await other.credentials.get(code.kind, code.digest), { ...code, consumedAt: 1_000 })
      for (const one of asked.issued) assert.deepEqual(await other.credentials.get(one.kind, one.digest), one)
      assert.equal(await other.credentials.hasEnded(asked.end.digest), false)
    }
  })

  test(`${name}: an exchange of what is not there, or has expired, issues nothing and ends nothing`, async t => {
    const clock = new ContractClock()
    const open = await place(t)
    const { credentials } = await open(clock)
    const late = credential('authorization_code', { expiresAt: clock.now() + 5_000 })
    await credentials.put(late)
    clock.advance(6_000)
    const value = credential('authorization_code', { digest: `svco_${'A'.repeat(59)}` })
    for (const one of [late, credential('authorization_code'), value]) {
      const asked = exchangeOf(one, {
        issued: [credential('access_token', { expiresAt: clock.now() + hour })],
        end: credential('ended_family', { expiresAt: clock.now() + hour }),
      })
      assert.deepEqual(await credentials.exchange(asked), { outcome: 'ended', consumedAt: null })
      assert.equal(await credentials.get('access_token', asked.issued[0]!.digest), null)
      assert.equal(await credentials.hasEnded(asked.end.digest), false)
    }
  })

  test(`${name}: an exchange that cannot store all changes nothing`, async t => {
    const { credentials } = await (await place(t))()
    const code = credential('authorization_code')
    await credentials.put(code)
    const issued = [credential('access_token'), credential('refresh_token', { user: 'a b' })]
    await assert.rejects(credentials.exchange(exchangeOf(code, { issued })), TypeError)
    assert.deepEqual(await credentials.get(code.kind, code.digest), code)
    assert.equal(await credentials.get('access_token', issued[0]!.digest), null)
  })

  test(`${name}: a replay issues nothing and ends the family, and so does one after it, and every handle is told`, async t => {
    const open = await place(t)
    const [{ credentials }, other] = await Promise.all([open(), open()])
    const told: Change[] = []
    t.after(other.changes.follow(change => told.push(change)))
    const code = credential('authorization_code')
    await credentials.put(code)
    const end = credential('ended_family')
    const first = exchangeOf(code, { end })
    await credentials.exchange(first)
    // A clock that is behind does not make it earlier.
    const again = exchangeOf(code, { end, at: 900 })
    assert.deepEqual(await other.credentials.exchange(again), { outcome: 'replayed', consumedAt: 1_000 })
    assert.equal(await credentials.hasEnded(end.digest), true)
    await until(() => told.some(change => change.kind === 'credential' && change.id === end.digest))
    const change = { kind: 'credential', account: 'ended_family', id: end.digest }
    assert.deepEqual(told, [change])
    const refresh = exchangeOf(first.issued[1]!, { end })
    assert.deepEqual(await credentials.exchange(refresh), { outcome: 'ended', consumedAt: null })
    const third = await credentials.exchange(exchangeOf(code, { end }))
    assert.deepEqual(third, { outcome: 'replayed', consumedAt: 1_000 })
    for (const { issued } of [again, refresh])
      for (const one of issued) assert.equal(await credentials.get(one.kind, one.digest), null)
    assert.deepEqual(await credentials.get('refresh_token', refresh.digest), first.issued[1])
  })

  test(`${name}: a refresh token is exchanged again within its grace in place of what it gave before, and replayed after it`, async t => {
    const open = await place(t)
    const [{ credentials }, other] = await Promise.all([open(), open()])
    const token = credential('refresh_token')
    await credentials.put(token)
    const end = credential('ended_family')
    const outcomes: unknown[] = []
    const told: string[] = []
    t.after(other.changes.follow(change => change.kind === 'credential' && told.push(change.id)))
    let before: readonly Credential[] | null = null
    for (const at of [1_000, 1_500, 500, 31_000]) {
      const asked = refreshOf(token, end, at)
      outcomes.push([at, await credentials.exchange(asked)])
      for (const one of asked.issued)
        assert.deepEqual(await other.credentials.get(one.kind, one.digest), one, String(at))
      if (before !== null) {
        const [access, refresh]: readonly Credential[] = before
        assert.equal(await other.credentials.get('access_token', access!.digest), null)
        const lost = await other.credentials.get('refresh_token', refresh!.digest)
        assert.deepEqual(lost, { ...refresh, consumedAt: at })
        await until(() => told.includes(access!.digest))
      }
      before = asked.issued
    }
    const late = refreshOf(token, end, 31_001)
    outcomes.push([31_001, await credentials.exchange(late)])
    for (const one of late.issued.slice(0, 2)) assert.equal(await credentials.get(one.kind, one.digest), null)
    const issued = { outcome: 'issued', consumedAt: 1_000 }
    assert.deepEqual(outcomes, [
      [1_000, issued],
      [1_500, issued],
      [500, issued],
      [31_000, issued],
      [31_001, { outcome: 'replayed', consumedAt: 1_000 }],
    ])
    assert.equal(await other.credentials.hasEnded(end.digest), true)
  })

  test(`${name}: a refresh token whose successor was used has no grace left, and its use ends the family`, async t => {
    const open = await place(t)
    const [{ credentials }, other] = await Promise.all([open(), open()])
    const token = credential('refresh_token')
    await credentials.put(token)
    const end = credential('ended_family')
    const first = refreshOf(token, end, 1_000)
    const second = refreshOf(first.issued[1]!, end, 1_001)
    for (const asked of [first, second]) assert.equal((await credentials.exchange(asked)).outcome, 'issued')
    const again = refreshOf(token, end, 1_002)
    assert.deepEqual(await other.credentials.exchange(again), { outcome: 'replayed', consumedAt: 1_000 })
    assert.equal(await credentials.hasEnded(end.digest), true)
    for (const one of again.issued.slice(0, 2))
      assert.equal(await credentials.get(one.kind, one.digest), null)
  })

  test(`${name}: what was issued in a response that was lost ends the family when it is used after all`, async t => {
    const open = await place(t)
    const [{ credentials }, other] = await Promise.all([open(), open()])
    const token = credential('refresh_token')
    await credentials.put(token)
    const end = credential('ended_family')
    const [lost, kept] = [refreshOf(token, end, 1_000), refreshOf(token, end, 1_001)]
    for (const asked of [lost, kept]) assert.equal((await credentials.exchange(asked)).outcome, 'issued')
    const asked = refreshOf(lost.issued[1]!, end, 1_002)
    assert.deepEqual(await other.credentials.exchange(asked), { outcome: 'replayed', consumedAt: 1_001 })
    const next = await credentials.exchange(refreshOf(kept.issued[1]!, end, 1_003))
    assert.deepEqual(next, { outcome: 'ended', consumedAt: null })
  })

  test(`${name}: of two chains of one family, as earlier versions left them, the second one to be used ends both`, async t => {
    const { credentials } = await (await place(t))()
    const [one, two] = [credential('refresh_token'), credential('refresh_token')]
    await credentials.putAll([one, two])
    const end = credential('ended_family')
    const first = refreshOf(one, end, 1_000)
    assert.equal((await credentials.exchange(first)).outcome, 'issued')
    const second = await credentials.exchange(refreshOf(two, end, 1_001))
    assert.deepEqual(second, { outcome: 'replayed', consumedAt: null })
    const next = await credentials.exchange(refreshOf(first.issued[1]!, end, 1_002))
    assert.deepEqual(next, { outcome: 'ended', consumedAt: null })
  })

  test(`${name}: a refresh token that an earlier version exchanged is exchanged again within its grace, and what that gave ends the family when it is used`, async t => {
    const { credentials } = await (await place(t))()
    const [spent, lost] = [credential('refresh_token'), credential('refresh_token')]
    await credentials.putAll([spent, lost])
    await credentials.consume(spent.kind, spent.digest, 1_000)
    const end = credential('ended_family')
    const again = refreshOf(spent, end, 2_000)
    assert.deepEqual(await credentials.exchange(again), { outcome: 'issued', consumedAt: 1_000 })
    for (const one of again.issued) assert.deepEqual(await credentials.get(one.kind, one.digest), one)
    const second = await credentials.exchange(refreshOf(lost, end, 2_001))
    assert.deepEqual(second, { outcome: 'replayed', consumedAt: null })
    assert.equal(await credentials.hasEnded(end.digest), true)
  })

  test(`${name}: a family goes on, with one chain, that an earlier version has gone on with in between`, async t => {
    const { credentials } = await (await place(t))()
    const [first, second, third] = [
      credential('refresh_token'),
      credential('refresh_token'),
      credential('refresh_token'),
    ]
    await credentials.put(first)
    const end = credential('ended_family')
    const asked = refreshOf(first, end, 1_000)
    assert.equal((await credentials.exchange(asked)).outcome, 'issued')
    await credentials.consume('refresh_token', asked.issued[1]!.digest, 2_000)
    await credentials.putAll([second, third])
    const next = refreshOf(second, end, 3_000)
    assert.deepEqual(await credentials.exchange(next), { outcome: 'issued', consumedAt: 3_000 })
    await credentials.consume('refresh_token', next.issued[1]!.digest, 4_000)
    await credentials.consume('refresh_token', third.digest, 5_000)
    const retry = refreshOf(third, end, 6_000)
    assert.deepEqual(await credentials.exchange(retry), { outcome: 'issued', consumedAt: 5_000 })
    const again = refreshOf(third, end, 7_000)
    assert.deepEqual(await credentials.exchange(again), { outcome: 'issued', consumedAt: 5_000 })
    const lost = refreshOf(retry.issued[1]!, end, 8_000)
    assert.deepEqual(await credentials.exchange(lost), { outcome: 'replayed', consumedAt: 7_000 })
  })

  test(`${name}: of two processes that use a refresh token ten times at once each, one pair is left`, async t => {
    const open = await place(t)
    const store = await open()
    const consumers = await Promise.all(Array.from({ length: 2 }, () => startConsumer(t, store.location)))
    let met = 0
    for (let round = 0; round < 5 || met === 0; round++) {
      assert.ok(round < 100, 'the processes never used it at the same time')
      const token = credential('refresh_token')
      await store.credentials.put(token)
      const end = credential('ended_family')
      const line = `refresh ${token.digest} ${end.digest} ${soon(round)}`
      const byProcess = await Promise.all(consumers.map(consume => consume(line)))
      if (overlap(byProcess)) met++
      const outcomes = byProcess.flat()
      assert.deepEqual(new Set(outcomes.map(([outcome]) => outcome)), new Set(['issued']))
      const read = (kind: 'access_token' | 'refresh_token', digest: string) =>
        store.credentials.get(kind, digest)
      const access = await Promise.all(outcomes.map(([, , digest]) => read('access_token', digest!)))
      const refresh = await Promise.all(outcomes.map(([, , , digest]) => read('refresh_token', digest!)))
      const good = refresh.map(one => one?.consumedAt === null)
      assert.deepEqual([refresh.length, good.filter(Boolean).length], [20, 1])
      assert.deepEqual(
        access.map(one => one !== null),
        good,
      )
      assert.equal(await store.credentials.hasEnded(end.digest), false)
    }
  })

  test(`${name}: of a process that uses a refresh token again and one that uses its successor, one wins, and the family ends`, async t => {
    const open = await place(t)
    const store = await open()
    const consumers = await Promise.all(Array.from({ length: 2 }, () => startConsumer(t, store.location)))
    let met = 0
    for (let round = 0; round < 10 || met === 0; round++) {
      assert.ok(round < 200, 'the processes never used them at the same time')
      const token = credential('refresh_token')
      await store.credentials.put(token)
      const end = credential('ended_family')
      const first = refreshOf(token, end, Date.now())
      await store.credentials.exchange(first)
      const at = soon(round)
      const byProcess = await Promise.all(
        consumers.map((consume, i) =>
          consume(`once ${i === 0 ? token.digest : first.issued[1]!.digest} ${end.digest} ${at}`),
        ),
      )
      if (overlap(byProcess)) met++
      const outcomes = byProcess.flat().map(([outcome]) => outcome)
      assert.deepEqual(outcomes.toSorted(), ['issued', 'replayed'])
      assert.equal(await store.credentials.hasEnded(end.digest), true)
    }
  })

  test(`${name}: a family that was ended, or whose grant was, gets no more`, async t => {
    const open = await place(t)
    const [{ credentials }, other] = await Promise.all([open(), open()])
    const [first, second] = [credential('refresh_token'), credential('refresh_token')]
    await credentials.putAll([first, second])
    const end = credential('ended_family', { grant: first.grant })
    const told: Change[] = []
    t.after(other.changes.follow(change => told.push(change)))
    await credentials.endFamily(end)
    assert.equal(await other.credentials.hasEnded(end.digest), true)
    await until(() => told.length > 0)
    assert.deepEqual(told, [{ kind: 'credential', account: 'ended_family', id: end.digest }])
    assert.equal((await credentials.exchange(exchangeOf(first, { end }))).outcome, 'ended')
    assert.deepEqual(await credentials.get('refresh_token', first.digest), first)
    await credentials.removeOf({ grant: second.grant! })
    assert.equal((await credentials.exchange(exchangeOf(second))).outcome, 'ended')
    await credentials.endFamily(end)
    await credentials.removeOf({ grant: first.grant! })
    assert.equal(await credentials.hasEnded(end.digest), false)
  })

  test(`${name}: an end is there until it expires`, async t => {
    const clock = new ContractClock()
    const { credentials } = await (await place(t))(clock)
    const end = credential('ended_family', { expiresAt: clock.now() + 5_000 })
    await credentials.endFamily(end)
    assert.equal(await credentials.hasEnded(end.digest), true)
    clock.advance(6_000)
    assert.equal(await credentials.hasEnded(end.digest), false)
  })

  test(`${name}: of two processes that exchange one code ten times at once each, one is issued, and its tokens are ended`, async t => {
    const open = await place(t)
    const store = await open()
    const consumers = await Promise.all(Array.from({ length: 2 }, () => startConsumer(t, store.location)))
    for (let round = 0; round < 5; round++) {
      const code = credential('authorization_code')
      await store.credentials.put(code)
      const end = credential('ended_family')
      const line = `exchange ${code.digest} ${end.digest}`
      const outcomes = (await Promise.all(consumers.map(consume => consume(line)))).flat()
      assert.equal(outcomes.length, 20)
      assert.equal(outcomes.filter(([outcome]) => outcome === 'issued').length, 1)
      assert.equal(outcomes.filter(([outcome]) => outcome === 'replayed').length, 19)
      for (const [outcome, , token] of outcomes)
        assert.equal((await store.credentials.get('access_token', token!)) !== null, outcome === 'issued')
      assert.equal(await store.credentials.hasEnded(end.digest), true)
    }
  })

  test(`${name}: whatever is exchanged, ended and removed, what is there is what must be`, async t => {
    const open = await place(t)
    const stores = await Promise.all([open(), open()])
    const step = fc.record({
      action: fc.constantFrom('exchange', 'exchange', 'exchange', 'end', 'remove'),
      which: fc.nat(5),
      at: fc.nat(100),
      store: fc.nat(1),
    } as const)
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async steps => {
        const end = credential('ended_family')
        const code = credential('authorization_code')
        await stores[0]!.credentials.put(code)
        const model = new Map<string, Credential>([[code.digest, code]])
        let hasEnded = false
        let last: Succession | null = null
        for (const { action, which, at, store } of steps) {
          const { credentials } = stores[store]!
          const one = [...model.values()][which % Math.max(1, model.size)]
          if (one === undefined) continue
          if (action === 'remove') {
            await credentials.remove(one.kind, one.digest)
            model.delete(one.digest)
            continue
          }
          if (action === 'end') {
            await credentials.endFamily(end)
            hasEnded = true
            continue
          }
          const grace = one.kind === 'refresh_token' ? 30 : 0
          const pair = exchangeOf(one, { at, grace, end })
          const family = familyOf(pair)
          const { outcome } = await credentials.exchange({ ...pair, issued: [...pair.issued, family] })
          const isGood: boolean = !isReplay(one, pair, last)
          assert.equal(outcome, !isGood ? 'replayed' : hasEnded ? 'ended' : 'issued')
          hasEnded ||= outcome === 'replayed'
          if (outcome !== 'issued') continue
          const lost = one.consumedAt === null ? undefined : model.get(last?.refresh ?? '')
          if (lost !== undefined) model.set(lost.digest, { ...lost, consumedAt: at })
          model.set(one.digest, { ...one, consumedAt: one.consumedAt ?? at })
          model.set(pair.issued[1]!.digest, pair.issued[1]!)
          last = family.data as unknown as Succession
          const isChain = ({ kind, consumedAt }: Credential) =>
            kind === 'refresh_token' && consumedAt === null
          assert.equal([...model.values()].filter(isChain).length, 1)
        }
        const other = stores[1]!.credentials
        assert.equal(await other.hasEnded(end.digest), hasEnded)
        for (const one of model.values()) assert.deepEqual(await other.get(one.kind, one.digest), one)
      }),
      { numRuns: 25 },
    )
  })
}

/** Returns when processes that are told now should begin, so that all have read it; later in later rounds, as they did not meet in those before. */
function soon(round: number): number {
  return performance.timeOrigin + performance.now() + Math.min(2 + round, 50)
}

type Span = readonly [began: number, ended: number]

/** Whether all of these were under way at one time; each is told by its last two members. */
function overlap(byProcess: readonly (readonly Outcome[])[]): boolean {
  const spans = byProcess.map((outcomes): Span => {
    const own = outcomes.map(outcome => outcome.slice(-2) as unknown as Span)
    return [Math.min(...own.map(([began]) => began)), Math.max(...own.map(([, ended]) => ended))]
  })
  return Math.max(...spans.map(([began]) => began)) < Math.min(...spans.map(([, ended]) => ended))
}
