import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../api.ts'
import { pool } from './zones.ts'

test('the pools of a zone are shown as the data plane reports them', async t => {
  const { ask, given } = await startApi(t)
  const shown = await ask('GET', '/client/v4/zones/main/origins')
  assert.deepEqual([shown.status, shown.json.result], [200, [pool]])
  given.pools = []
  assert.deepEqual((await ask('GET', '/client/v4/zones/main/origins')).json.result, [])
})
