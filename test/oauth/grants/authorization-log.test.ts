import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from '../../../src/log/log.ts'
import { AuthorizationLog } from '../../../src/oauth/grants/authorization-log.ts'
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
