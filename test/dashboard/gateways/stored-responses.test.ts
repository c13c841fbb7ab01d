import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entryWith, keepEntries } from '../../admin/ai-logs/log-entries.ts'
import { openDashboard } from '../site.ts'

const room = { bytes: 1_000_000, entries: 1_000 }
const bounds = { answer: 1_000_000, gateway: room, account: room, all: room }

test('a gateway shows its stored responses, and how many calls they answered, and deletes them', async t => {
  const { base, get, submit, ask, kept, account, clock } = await openDashboard(t)
  const page = `${base}/gateways/default`
  assert.doesNotMatch((await get(page)).text, /Stored responses/)
  const { result } = (await ask('GET', '/ai-gateway/gateways/default')).json
  await ask('PUT', '/ai-gateway/gateways/default', { body: { ...result, cache_ttl: 3600 } })
  assert.match(
    (await get(page)).text,
    /Stored responses None is stored at the moment\. Calls of 24 hours None/,
  )
  const place = { account, gateway: 'default', key: 'a' }
  await kept.answers.write(place, Buffer.alloc(2_000), Date.now() + 3_600_000, bounds)
  const createdAt = clock.now()
  await keepEntries(kept, [
    entryWith(1, { createdAt }),
    entryWith(2, { createdAt, cached: true, saved: { tokensIn: 1, tokensOut: 1, cost: 0.1 } }),
  ])
  const filled = await get(page)
  assert.match(filled.text, /Stored 1, \d.* Calls of 24 hours 1 of 2 \(50\.0 %\) had a stored response/)
  assert.match(filled.body, /logs\?cached=true&#38;range=24h"/)
  assert.match((await get(`${page}/responses`)).text, /1 stored response of default/)
  const deleted = await submit(`${page}/responses`)
  assert.match(
    (await deleted.follow()).text,
    /The stored responses were deleted\..*None is stored at the moment/,
  )
  assert.equal(await kept.answers.read(place), null)
})

test('who may only read deletes no stored responses', async t => {
  const { base, get, visitor, kept, account } = await openDashboard(t, 'Administrator Read Only')
  await kept.answers.write(
    { account, gateway: 'default', key: 'a' },
    Buffer.alloc(10),
    Date.now() + 3_600_000,
    bounds,
  )
  const page = `${base}/gateways/default`
  assert.match((await get(page)).text, /Stored responses Stored 1/)
  assert.doesNotMatch((await get(page)).text, /Delete them/)
  assert.equal((await visitor.post(`${page}/responses`, {})).status, 404)
})
