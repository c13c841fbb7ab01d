import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cacheControlsOf } from '../../../src/edge/ai-call/cache-controls.ts'
import { AiFields } from '../../../src/edge/ai-call/request-fields.ts'
import { stepsOver } from '../../help/exchange.ts'
import { request } from '../../help/raw.ts'

const ttl = 'svc-aig-cache-ttl: 60'
const skip = 'svc-aig-skip-cache: true'
const key = 'svc-aig-cache-key: k'

/** The time of the gateway, the fields of the caller, and what comes of them. */
const cases = [
  ['responses are not reused if nobody says so', 0, [], null],
  ['a gateway sets a time', 900, [], { ttl: 900, isSkipped: false, key: null }],
  ['a caller sets a time where the gateway does not', 0, [ttl], { ttl: 60, isSkipped: false, key: null }],
  ['the time of a caller goes before', 900, [ttl], { ttl: 60, isSkipped: false, key: null }],
  ['a call with a key has five minutes', 0, [key], { ttl: 300, isSkipped: false, key: 'k' }],
  ['a key leaves the time of the gateway', 900, [key], { ttl: 900, isSkipped: false, key: 'k' }],
  ['a caller skips what the gateway reuses', 900, [skip], { ttl: 900, isSkipped: true, key: null }],
  ['there is nothing to skip without a time', 0, [skip], null],
] as const
for (const [title, cacheTtl, fields, controls] of cases)
  test(title, t => {
    const { head } = stepsOver(t, []).exchange(request('POST /', ...fields))
    assert.deepEqual(cacheControlsOf({ fields: new AiFields(head), gateway: { cacheTtl } }), controls)
  })

test('a value out of its bounds is refused, and one that comes twice', t => {
  const steps = stepsOver(t, [])
  const wrong = [
    ['svc-aig-cache-ttl: 59'],
    ['svc-aig-skip-cache: yes'],
    ['svc-aig-cache-key: a b'],
    [key, key],
  ]
  for (const fields of wrong) {
    const { head } = steps.exchange(request('POST /', ...fields))
    const refusal = cacheControlsOf({ fields: new AiFields(head), gateway: { cacheTtl: 900 } })
    assert.ok(refusal !== null && 'error' in refusal, fields.join())
    assert.equal(refusal.error, 'bad_request')
  }
})
