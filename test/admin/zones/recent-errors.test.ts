import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slotOf, type Tally } from '../../../src/store/records/tally.ts'
import { account, tokenWith } from '../../tokens/token-with.ts'
import { allowing, startApi } from '../api.ts'
import { zoneWith } from './zones.ts'

const other = '9'.repeat(32)
const hour = 3_600_000

type Shown = Record<string, unknown> & { readonly code: number; readonly count: number }

async function start(t: Parameters<typeof startApi>[0]) {
  const api = await startApi(t)
  await api.kept.accounts.insert({ id: other, name: 'other', createdAt: 1 })
  api.given.configs.push(zoneWith({ name: 'theirs', account: other }))
  const now = api.clock.now()
  const tally = (scope: string, name: string, count: number, members: Partial<Tally> = {}): Tally => ({
    ...{
      kind: 'error',
      scope,
      name,
      count,
      last: now,
      slot: slotOf('error', now),
      occurrences: [],
      ...members,
    },
  })
  const read = async (path: string, token?: string) => {
    const { status, json } = await api.ask('GET', `/client/v4${path}`, token === undefined ? {} : { token })
    return { status, json, result: json.result as readonly Shown[] }
  }
  return { ...api, now, tally, read }
}

test('errors of a zone are shown by code with their hours and last requests, the last one first', async t => {
  const { kept, read, tally, now } = await start(t)
  const path = '/<script>alert(1)</script>\x1b[2J'
  const occurrence = { at: now - 5, ray: 'ab', method: 'GET', host: 'x', path, status: 403, format: 'json' }
  await kept.tallies.add([
    tally('zone main', '1020', 2, { last: now - hour, slot: slotOf('error', now - hour) }),
    tally('zone main', '1020', 3, { last: now - 5, occurrences: [occurrence] }),
    tally('zone main', '1015', 9, { last: now - 9 }),
    tally('zone main', '9999', 1, { last: now - 99 }),
    tally('zone theirs', '502', 1),
  ])
  const { status, json, result } = await read('/zones/main/errors')
  assert.equal(status, 200)
  assert.deepEqual(
    result.map(({ code, count }) => [code, count]),
    [
      [1020, 5],
      [1015, 9],
      [9999, 1],
    ],
  )
  const iso = (ms: number) => new Date(ms).toISOString()
  const { hours, occurrences, last_at, name, title, zone, place, gateway_id } = result[0]!
  assert.deepEqual(
    [name, title, zone, place, gateway_id],
    ['firewall_rule_blocked', 'Access denied', 'main', 'zone', null],
  )
  assert.deepEqual(hours, [
    { since: iso(slotOf('error', now - hour)), count: 2 },
    { since: iso(slotOf('error', now)), count: 3 },
  ])
  assert.deepEqual([last_at, occurrences], [iso(now - 5), [{ ...occurrence, at: iso(now - 5) }]])
  assert.equal(result[2]!.name, null)
  assert.equal(json.result_info.total_count, 3)
  const codes = async (query: string) =>
    (await read(`/zones/main/errors?${query}`)).result.map(({ code }) => code)
  assert.deepEqual(await codes('order=count'), [1015, 1020, 9999])
  assert.deepEqual(await codes('code=1015'), [1015])
  assert.deepEqual(await codes('per_page=1&page=2'), [1015])
  const [recent] = (await read(`/zones/main/errors?code=1020&since=${iso(now)}`)).result
  assert.equal(recent!.count, 3)
})

test('an account sees the errors of its zones and gateways, and the oldest those of nobody', async t => {
  const { kept, read, tally, keepToken } = await start(t)
  await kept.tallies.add([
    tally('zone main', '1020', 1),
    tally('zone theirs', '502', 1),
    tally('none', '1001', 1),
    tally('ai', '404', 1),
    tally(`ai ${account}`, '1015 default', 1),
    tally(`ai ${other}`, '1015 theirs', 1),
  ])
  const everywhere = tokenWith({ policies: [allowing(['Analytics Read'], ['*'])] })
  await kept.tokens.insert(everywhere.token)
  const seen = async (id: string) =>
    (await read(`/accounts/${id}/errors`, everywhere.value)).result
      .map(({ place, zone, gateway_id, code }) => [place, zone, gateway_id, code].join(' '))
      .toSorted()
  assert.deepEqual(await seen(account), [
    'ai_gateway  default 1015',
    'ai_host   404',
    'unknown_host   1001',
    'zone main  1020',
  ])
  assert.deepEqual(await seen(other), ['ai_gateway  theirs 1015', 'zone theirs  502'])
  const { value } = await keepToken(['Zones Read'])
  assert.equal((await read(`/accounts/${account}/errors`, value)).status, 403)
  assert.equal((await read('/zones/main/errors', value)).status, 403)
})
