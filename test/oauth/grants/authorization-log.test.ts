import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createLogger } from '../../../src/log/log.ts'
import { AuthorizationLog } from '../../../src/oauth/grants/authorization-log.ts'
import { documentIdOf } from '../../../src/oauth/clients/document-url.ts'
import type { AuthorizationEvent } from '../../../src/store/records/authorization-event.ts'
import { openStore } from '../../../src/store/open.ts'
import { authorizationEvent, hex } from '../../store/contract-specimens.ts'

test('at most 20 events of one user and result are written in a burst, so others have room', async t => {
  const store = await openStore('sqlite::memory:', { commandTimeout: 1_000 })
  t.after(() => store.close())
  const log = new AuthorizationLog({ store, log: createLogger('error', { write: () => {} }) })
  const { client, clientAccount } = authorizationEvent()
  const loud = hex(16)
  for (let i = 0; i < 60; i++)
    log.note(authorizationEvent({ client, clientAccount, user: loud, reason: `scope ${i}` }))
  const others = Array.from({ length: 30 }, (_, i) =>
    authorizationEvent({ client, clientAccount, ...(i < 10 && { user: loud, result: 'success' as const }) }),
  )
  for (const [i, other] of others.entries()) log.note({ ...other, reason: `other ${i}` })
  await log.close()
  const kept = await store.authorizationEvents.list(clientAccount, client)
  const countOf = (isOne: (event: (typeof kept)[number]) => boolean) => kept.filter(isOne).length
  assert.equal(
    countOf(({ user, result }) => user === loud && result === 'failure'),
    20,
  )
  assert.equal(
    countOf(({ reason }) => reason!.startsWith('other')),
    30,
  )
})

/** Has a log on a store, whose lines are collected. */
async function start(t: TestContext) {
  const store = await openStore('sqlite::memory:', { commandTimeout: 1_000 })
  t.after(() => store.close())
  const lines: string[] = []
  const log = createLogger('warn', { write: line => lines.push(line) })
  const events = new AuthorizationLog({ store, log })
  const told = () => lines.map(line => JSON.parse(line)).map(({ msg, dropped }) => [msg, dropped])
  const noteMany = (count: number, more: Partial<AuthorizationEvent>) => {
    for (let i = 0; i < count; i++) events.note(authorizationEvent({ reason: `${i}`, user: null, ...more }))
  }
  const countOf = async ({ client, clientAccount }: Pick<AuthorizationEvent, 'client' | 'clientAccount'>) =>
    (await store.authorizationEvents.list(clientAccount, client)).length
  return { store, events, told, noteMany, countOf }
}

const tooMany = 'authorization events dropped: too many at once'

test('a client has 50 proven and 50 unproven events in a burst, and as many in the next', async t => {
  const { events, told, noteMany, countOf } = await start(t)
  const { client, clientAccount } = authorizationEvent()
  for (const count of [100, 200]) {
    noteMany(50, { client, clientAccount, isUnproven: true })
    noteMany(53, { client, clientAccount })
    noteMany(4, { client, clientAccount, isUnproven: true, error: 'invalid_client' })
    await events.close()
    assert.equal(await countOf({ client, clientAccount }), count)
    assert.deepEqual(told().at(-1), [tooMany, 7])
  }
})

test('all clients together have 2,000 unproven events in a burst, and others beside them', async t => {
  const { store, events, told, noteMany, countOf } = await start(t)
  let [running, most] = [0, 0]
  const { append: write } = store.authorizationEvents
  const append = t.mock.method(store.authorizationEvents, 'append', async (event: AuthorizationEvent) => {
    most = Math.max(most, ++running)
    await write.call(store.authorizationEvents, event)
    running--
  }).mock
  const many = (count: number) => {
    for (let i = 0; i < count; i++) noteMany(50, { client: hex(16), isUnproven: true })
  }
  const proven = authorizationEvent()
  many(41)
  events.note(proven)
  await events.close()
  assert.equal(append.callCount(), 2_001)
  assert.deepEqual(told(), [[tooMany, 50]])
  assert.equal(await countOf(proven), 1)
  many(40)
  await events.close()
  assert.equal(append.callCount(), 4_001)
  assert.deepEqual([told().length, most], [1, 100])
})

test('of equal events, the last is written; what differs in anything is another one', async t => {
  const { store, events } = await start(t)
  const first = authorizationEvent({ reason: 'x'.repeat(2_001) })
  const { id: _, at: __, ...outcome } = first
  const differences: readonly Partial<AuthorizationEvent>[] = [
    { result: 'success' },
    { step: 'authorization' },
    { error: 'access_denied' },
    { user: hex(16) },
    { account: hex(16) },
    { reason: null },
  ]
  for (const more of [{}, ...differences, {}, ...differences]) events.note({ ...outcome, ...more })
  await events.close()
  const stored = await store.authorizationEvents.list(first.clientAccount, first.client)
  assert.equal(stored.length, 7)
  const reasons = stored.map(({ reason }) => (reason === null ? null : reason.length))
  assert.deepEqual(new Set(reasons), new Set([2_000, null]))
})

test('events of a client that is known by its document are not written, since nobody could read them', async t => {
  const { events, countOf } = await start(t)
  const client = documentIdOf('https://app.example/c')
  const { clientAccount } = authorizationEvent()
  events.note(authorizationEvent({ client, clientAccount }))
  await events.close()
  assert.equal(await countOf({ client, clientAccount }), 0)
})

test('events are written a quarter of a second after the first by themselves', async t => {
  const { store, events } = await start(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const append = t.mock.method(store.authorizationEvents, 'append').mock
  for (const count of [2, 4]) {
    events.note(authorizationEvent())
    t.mock.timers.tick(249)
    events.note(authorizationEvent())
    await turn()
    assert.equal(append.callCount(), count - 2)
    t.mock.timers.tick(1)
    await turn()
    assert.equal(append.callCount(), count)
  }
  await events.close()
})

test('events that come while others are written wait in the same bounds', async t => {
  const { store, events, noteMany } = await start(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const release = Promise.withResolvers<void>()
  const append = t.mock.method(store.authorizationEvents, 'append', () => release.promise).mock
  const client = hex(16)
  for (let i = 0; i < 3; i++) {
    noteMany(60, { client })
    t.mock.timers.tick(250)
    await turn()
  }
  assert.equal(append.callCount(), 50)
  release.resolve()
  await events.close()
  assert.equal(append.callCount(), 100)
})

test('a store that fails is told of once, until it works again', async t => {
  const { store, events, told } = await start(t)
  const { mock } = t.mock.method(store.authorizationEvents, 'append')
  const note = async (isFailing: boolean) => {
    if (isFailing) mock.mockImplementationOnce(() => Promise.reject(new Error('no')))
    events.note(authorizationEvent())
    await Promise.all([events.close(), events.close()])
    return told().length
  }
  assert.deepEqual([await note(true), await note(true), await note(false), await note(true)], [1, 1, 1, 2])
  assert.deepEqual(told()[0], ['writing authorization events failed', undefined])
})
