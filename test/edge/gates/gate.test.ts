import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Admission, faultIn, type GateFault } from '../../../src/edge/gates/gate.ts'
import { HeaderChanges } from '../../../src/edge/rewrite/headers.ts'

const admission: Admission = {
  ...{ subject: null, claims: {}, changes: new HeaderChanges(new Set(), [], []) },
  isCurrent: () => true,
}
const fault = (kind: GateFault['kind']): GateFault => ({
  kind,
  cause: { code: kind },
  wait: 0,
  challenge: null,
})

test('one gate that lets a credential in is enough, and without any nothing does', () => {
  assert.equal(faultIn([fault('invalid'), admission]), null)
  assert.equal(faultIn([admission]), null)
  assert.equal(faultIn([fault('invalid'), fault('missing')])!.kind, 'invalid')
  assert.deepEqual(faultIn([])!.cause, { code: 'GH_GATE_CHANGED' })
})
