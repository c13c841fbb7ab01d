import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gatewayLimitOf } from '../../../src/limits/limit.ts'
import { account } from '../../tokens/token-with.ts'
import { startApi } from '../api.ts'

const gateways = '/ai-gateway/gateways'

test('the limit of a gateway is shown with the tokens and apps nearest to it, as the store has counted them', async t => {
  const { ask, given, kept } = await startApi(t)
  const body = { id: 'busy', rate_limiting_limit: 10, rate_limiting_interval: 60, rate_limiting_key: 'app' }
  await ask('POST', gateways, { body: { ...body, rate_limiting_technique: 'sliding' } })
  const limit = gatewayLimitOf({ account, id: 'busy' }, 'sliding', 10, 60_000)
  const near = (key: string, used: number) => ({
    ...{ limit: limit.name, key, storeKey: `busy/${key}`, used, unreported: 0 },
  })
  const window = { kind: 'sliding', period: 60_000 } as const
  await kept.counters.spend({ key: 'busy/app a1', window, limit: 10, done: 12, wanted: 0 })
  given.near = [[near('token t1', 3), near('', 1)], [near('app a1', 9)]]
  const { json } = await ask('GET', `${gateways}/busy/rate_limits`)
  const [{ nearest, ...facts }, ...others] = json.result
  assert.deepEqual(others, [])
  assert.deepEqual(facts, { name: 'ai-gateway', limit: 10, window: 'sliding', period: 60, key: ['app'] })
  assert.deepEqual(
    nearest.map(({ key, used, remaining }: Record<string, unknown>) => [key, used, remaining]),
    [
      [[{ by: 'app', value: 'a1' }], 12, 0],
      [[{ by: 'token_id', value: 't1' }], 0, 10],
      [[], 0, 10],
    ],
  )
})

test('a gateway without a limit has none to show, and one that is not there is 404', async t => {
  const { ask } = await startApi(t)
  assert.deepEqual((await ask('GET', `${gateways}/default/rate_limits`)).json.result, [])
  assert.equal((await ask('GET', `${gateways}/gone/rate_limits`)).status, 404)
})
