import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreUnreachable } from '../../../src/store/contract/store.ts'
import { slotOf } from '../../../src/store/records/tally.ts'
import { entryWith, keepEntries } from '../../admin/ai-logs/log-entries.ts'
import { openDashboard } from '../site.ts'

async function open(t: Parameters<typeof openDashboard>[0], role?: Parameters<typeof openDashboard>[1]) {
  const site = await openDashboard(t, role)
  const { kept, clock } = site
  const entry = entryWith(1, { createdAt: clock.now() })
  await keepEntries(kept, [entry])
  const now = clock.now()
  const request = { at: now, method: 'GET', host: 'main.test', path: '/x', status: 403, format: 'json' }
  const tally = {
    kind: 'error',
    scope: 'zone main',
    slot: slotOf('error', now),
    last: now,
    count: 9,
  } as const
  const rays = ['fedcba9876543210', '0000000000000001']
  await kept.tallies.add([
    { ...tally, name: '1020', occurrences: rays.map(ray => ({ ...request, ray })) },
    { ...tally, name: '1015', occurrences: [{ ...request, ray: '0000000000000002' }] },
  ])
  const find = (ray: string) => site.get(`${site.base}/find?${new URLSearchParams({ ray })}`)
  return { ...site, entry, find }
}

test('a ray leads to the call that has it, or to the error that its request got', async t => {
  const { base, entry, find, get } = await open(t)
  assert.equal((await find(entry.id)).location, `${base}/gateways/default/logs/${entry.id}`)
  const error = await find(' FEDCBA9876543210 ')
  assert.equal(error.location, `${base}/errors?ray=fedcba9876543210`)
  const page = await error.follow()
  assert.match(page.text, /1020 Access denied The request fedcba9876543210 /)
  assert.doesNotMatch(page.text, /0000000000000001|1015/)
  assert.match(page.body, /<details class="requests" open>/)
  for (const ray of ['0123456789abcdee', 'x', '<script>']) {
    const nothing = await find(ray)
    assert.match(nothing.text, /Nothing found .*16 hex digits/)
    assert.doesNotMatch(nothing.body, /<script>/)
  }
  assert.match((await find('')).text, /Which request\?/)
  const { location } = await get(`${base}/find?q=FEDCBA9876543210`)
  assert.equal(location, `${base}/errors?ray=fedcba9876543210`)
})

test('a request that cannot be looked up for now is not said to be unknown', async t => {
  const { entry, find, kept } = await open(t)
  const away = async () => {
    throw new StoreUnreachable()
  }
  const cuts = [() => t.mock.method(kept.gateways, 'list', away), () => t.mock.method(kept.logs, 'get', away)]
  for (const cut of cuts) {
    const { mock } = cut()
    const { status, text } = await find(entry.id)
    assert.equal(status, 503)
    assert.doesNotMatch(text, /Nothing is known/)
    mock.restore()
  }
})

test('a ray look-up finds nothing that the roles of the user do not show', async t => {
  const { entry, find } = await open(t, 'OAuth Client Write')
  for (const ray of [entry.id, 'fedcba9876543210']) assert.match((await find(ray)).text, /Nothing found/)
})

test('the API shows the error of one ray, with that request alone', async t => {
  const { ask } = await open(t)
  const listed = async (query: string) => (await ask('GET', `/client/v4/zones/main/errors?${query}`)).json
  const { result, result_info } = await listed('ray=0000000000000001')
  assert.deepEqual([result.length, result_info.total_count, result[0].code, result[0].count], [1, 1, 1020, 9])
  assert.deepEqual(
    result[0].occurrences.map(({ ray }: { ray: string }) => ray),
    ['0000000000000001'],
  )
  assert.deepEqual((await listed('ray=0000000000000001&code=1015')).result, [])
  assert.deepEqual((await listed('ray=0000000000000001&page=2')).result, [])
  assert.match((await listed('ray=x')).errors[0].message, /ray must be 16 hex digits/)
})
