import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ready } from '../../../src/admin/service/health.ts'

const well = { isUnreachable: false, refusal: null, deafness: null, degradation: { reasons: [] } }

test('readiness says why the gateway is degraded, and takes traffic all the same', () => {
  const responseOf = (...args: Parameters<typeof ready>) => {
    const { status, body } = ready(...args)
    return [status, JSON.parse(String(body))]
  }
  assert.deepEqual(responseOf(null, null), [200, { status: 'ready' }])
  assert.deepEqual(responseOf(null, well), [200, { status: 'ready' }])
  assert.deepEqual(responseOf(null, { ...well, deafness: 'NOPERM' }), [200, { status: 'ready' }])
  const refusal = '1 of 2 replicas confirm writes'
  const degraded = (reason: string) => [200, { status: 'degraded', reason }]
  assert.deepEqual(
    responseOf(null, { ...well, refusal }),
    degraded(`store does not confirm writes: ${refusal}`),
  )
  assert.deepEqual(responseOf(null, { ...well, isUnreachable: true }), degraded('store unreachable'))
  assert.deepEqual(
    responseOf(null, { ...well, isUnreachable: true, refusal: '1 of 3 Sentinels' }),
    degraded('store unreachable: 1 of 3 Sentinels'),
  )
  const reason = { code: 'store_empty', message: 'the store is empty', remedy: 'Restore it' } as const
  const degradation = { reasons: [reason] }
  assert.deepEqual(responseOf(null, { ...well, refusal, degradation }), [
    200,
    { status: 'degraded', reason: 'the store is empty', next: 'Restore it' },
  ])
  assert.deepEqual(responseOf('store not trusted', { ...well, degradation }), [
    503,
    { status: 'unready', reason: 'the store is empty', next: 'Restore it' },
  ])
  assert.deepEqual(responseOf('draining', { ...well, refusal }), [
    503,
    { status: 'unready', reason: 'draining' },
  ])
})
