import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Handshakes } from '../../../../src/edge/origin/dial/handshakes.ts'
import { failureOf, fault } from '../../../../src/errors/catalogue/origin-failure.ts'

const refusal = failureOf({ message: '', code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' } as never)
const resetInWrite = failureOf({ message: '', code: 'ECONNRESET', syscall: 'write' } as never)
const resetInRead = failureOf({ message: '', code: 'ECONNRESET', syscall: 'read' } as never)
const late = { isReused: false, isJudgedLate: true }

test('an alert of the origin is a refusal, and its session is no longer resumed', () => {
  assert.equal(refusal.way, 'handshake_refused')
  const handshakes = new Handshakes()
  handshakes.session = Buffer.from('session')
  assert.equal(handshakes.wasRefused({ isReused: true, isJudgedLate: false }, refusal), true)
  assert.equal(handshakes.session, null)
})

test('a reset as we write is one too, where the origin has never accepted a handshake and says so late', () => {
  const wasRefused = (facts: Partial<typeof late>, failure = resetInWrite, handshakes = new Handshakes()) =>
    handshakes.wasRefused({ ...late, ...facts }, failure)
  assert.equal(wasRefused({}), true)
  assert.equal(wasRefused({ isReused: true }), false)
  assert.equal(wasRefused({ isJudgedLate: false }), false)
  assert.equal(wasRefused({}, resetInRead), false)
  assert.equal(wasRefused({}, fault('GH_CLOSED')), false)
  const answered = new Handshakes()
  answered.responded()
  assert.equal(wasRefused({}, resetInWrite, answered), false)
  const resumed = new Handshakes()
  resumed.session = Buffer.from('session')
  assert.equal(wasRefused({}, resetInWrite, resumed), false)
  resumed.wasRefused(late, refusal)
  assert.equal(wasRefused({}, resetInWrite, resumed), true, 'what was proven is proven no more')
})
