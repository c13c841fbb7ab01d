import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditQuery } from '../../store/contract-specimens.ts'
import { account } from '../../tokens/token-with.ts'
import { entryWith, keepEntries } from '../ai-logs/log-entries.ts'
import { startApi } from '../api.ts'

const path = '/ai-gateway/gateways/default/stored_responses'
const room = { bytes: 1_000_000, entries: 1_000 }
const bounds = { answer: 1_000_000, gateway: room, account: room, all: room }

test('stored responses are counted, with how many calls they answered, and deleted', async t => {
  const { ask, kept, clock, addAccount } = await startApi(t)
  const other = await addAccount('Other')
  for (const [owner, gateway, key] of [
    [account, 'default', 'a'],
    [account, 'default', 'b'],
    [other, 'default', 'a'],
  ] as const)
    await kept.answers.write(
      { account: owner, gateway, key },
      Buffer.alloc(100),
      Date.now() + 3_600_000,
      bounds,
    )
  const createdAt = clock.now()
  await keepEntries(kept, [entryWith(1, { createdAt }), entryWith(2, { createdAt, cached: true, saved })])
  const { result } = (await ask('GET', path)).json
  const { since, bytes, ...facts } = result
  assert.deepEqual(facts, { entries: 2, emptied_at: null, is_complete: true, count: 2, count_cached: 1 })
  assert.ok(bytes >= 200 && Date.parse(since) < createdAt)

  const etag = (await ask('GET', '/ai-gateway/gateways/default')).headers.get('etag')
  assert.deepEqual((await ask('DELETE', path)).json.result, { entries: 2, bytes })
  const emptied = (await ask('GET', path)).json.result
  assert.deepEqual([emptied.entries, emptied.emptied_at], [0, new Date(clock.now()).toISOString()])
  assert.equal((await kept.answers.sum(other)).entries, 1)
  // It is no change of the settings, and no such change takes it back.
  const gateway = await ask('GET', '/ai-gateway/gateways/default')
  assert.equal(gateway.headers.get('etag'), etag)
  await ask('PUT', '/ai-gateway/gateways/default', { body: gateway.json.result })
  assert.equal((await ask('GET', path)).json.result.emptied_at, emptied.emptied_at)
  // Another deletion at the same time is another one.
  await ask('DELETE', path)
  assert.equal((await kept.gateways.get(account, 'default'))!.record.answersSince, clock.now() + 1)
  const { items } = await kept.audit.list(account, auditQuery())
  const deletions = items.filter(({ action }) => action === 'delete_responses')
  assert.deepEqual(
    deletions.map(({ resource }) => resource),
    ['default', 'default'],
  )
})

const saved = { tokensIn: 1, tokensOut: 1, cost: 0.1 }

test('only an existing gateway has stored responses, and those who may only read delete none', async t => {
  const { ask, keepToken } = await startApi(t)
  const missing = path.replace('default', 'gone')
  assert.deepEqual([(await ask('GET', missing)).status, (await ask('DELETE', missing)).status], [404, 404])
  const { value } = await keepToken(['AI Gateway Read'])
  assert.equal((await ask('GET', path, { token: value })).status, 200)
  assert.equal((await ask('DELETE', path, { token: value })).status, 403)
})
