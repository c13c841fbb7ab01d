import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { digestOfValue, newValue } from '../../../src/people/records/secret-value.ts'
import { findTicket, issueTicket, useTicket } from '../../../src/people/sign-in/ticket.ts'
import { openStore } from '../../../src/store/open.ts'
import { everybody } from '../../../src/store/records/people.ts'
import { ManualClock } from '../../help/clock.ts'
import { user } from '../../store/contract-specimens.ts'

const proof = { method: 'password', at: 7 } as const

async function start(t: TestContext) {
  const clock = new ManualClock()
  const store = await openStore('sqlite::memory:', { commandTimeout: 500, clock })
  t.after(() => store.close())
  const ada = user()
  await store.users.insert(ada)
  const value = await issueTicket(store, ada, proof, clock.now())
  /** Changes what is stored of the ticket. */
  const change = async (more: object) => {
    const stored = (await store.credentials.get('sign_in', digestOfValue(value)))!
    await store.credentials.put({ ...stored, ...more })
  }
  const changePassword = async () => {
    const { record, version } = (await store.users.get(everybody, ada.id))!
    await store.users.replace({ ...record, passwordChangedAt: 9 }, version)
    return { ...ada, passwordChangedAt: 9 }
  }
  return { clock, store, ada, value, change, changePassword }
}

test('a ticket has who proved what, and is good for ten minutes', async t => {
  const { clock, store, ada, value } = await start(t)
  const ticket = (await findTicket(store, value))!
  assert.deepEqual([ticket.user, ticket.proof], [ada, proof])
  for (const other of ['', 'x', newValue().value, digestOfValue(value)])
    assert.equal(await findTicket(store, other), null, other)
  clock.advance(600_000 - 1)
  assert.ok(await findTicket(store, value))
  clock.advance(1)
  assert.equal(await findTicket(store, value), null)
})

test('a ticket is used once, by its user as they are after the second step', async t => {
  const { store, ada, value, changePassword } = await start(t)
  const ticket = (await findTicket(store, value))!
  const other = (await findTicket(store, await issueTicket(store, ada, proof, Date.UTC(2026, 0, 1))))!
  assert.deepEqual(await Promise.all([1, 2].map(() => useTicket(store, ticket, ada, 8))), [true, false])
  assert.equal(await findTicket(store, value), null)
  assert.equal(await useTicket(store, other, await changePassword(), 8), false)
})

test('a ticket is none after a new password, without its user, or of another step', async t => {
  const rows: readonly ((ground: Awaited<ReturnType<typeof start>>) => Promise<unknown>)[] = [
    ({ changePassword }) => changePassword(),
    ({ store, ada }) => store.users.remove(everybody, ada.id),
    ({ change }) => change({ data: { ...proof, step: 'openid', passwordSetAt: user().passwordChangedAt } }),
    ({ change }) => change({ user: null }),
    ({ change }) => change({ consumedAt: 8 }),
  ]
  for (const row of rows) {
    const ground = await start(t)
    assert.ok(await findTicket(ground.store, ground.value))
    await row(ground)
    assert.equal(await findTicket(ground.store, ground.value), null, String(row))
  }
})

test('a ticket of an older version does not say when', async t => {
  const { store, ada, value, change } = await start(t)
  await change({ data: { step: 'code', method: 'openid', passwordSetAt: ada.passwordChangedAt } })
  assert.deepEqual((await findTicket(store, value))?.proof, { method: 'openid', at: null })
})
