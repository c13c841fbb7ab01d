import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  apiFaults,
  fault,
  faultAt,
  refuseCall,
  refuseCallAt,
} from '../../../src/errors/catalogue/api-faults.ts'
import { errorRows } from '../../../src/errors/catalogue/catalogue.ts'

const rows = Object.entries(apiFaults)

test('a fault has the number of its row, and its sentence', () => {
  assert.deepEqual(fault('unauthorized'), { code: 10000, message: 'Authentication error', pointer: null })
  assert.deepEqual(faultAt('/a', 'missing', 'a', 'is required'), {
    code: 10002,
    message: 'a is required',
    pointer: '/a',
  })
})

test('a fault points where its row does, unless the case says otherwise', () => {
  assert.equal(fault('gateway_taken').pointer, '/id')
  assert.equal(faultAt(null, 'gateway_taken').pointer, null)
})

test('an AI call is refused by the error that has the status of the row', () => {
  const refused = [
    [refuseCall('invalid', 'a', 'must be b'), 'bad_request'],
    [refuseCall('native_unauthorized'), 'unauthorized'],
    [refuseCall('call_forbidden'), 'forbidden'],
    [refuseCall('no_gateway'), 'not_found'],
    [refuseCall('method_not_allowed', 'POST'), 'method_not_allowed'],
    [refuseCall('call_too_large', '1 MiB'), 'content_too_large'],
    [refuseCallAt('/x', 'no_plain_json'), 'unsupported_media_type'],
  ] as const
  for (const [{ error, faults }, expected] of refused) {
    assert.equal(error, expected)
    const isRow = rows.some(
      ([, { code, status }]) => code === faults[0]!.code && status === errorRows[error].status,
    )
    assert.ok(isRow, expected)
  }
  assert.equal(refuseCallAt('/x', 'no_model', 'a', '').faults[0]!.pointer, '/x')
  assert.deepEqual(refuseCall('no_gateway').faults, [fault('no_gateway')])
})

test('numbers have 4 or 5 digits, statuses are those of errors, and sentences end without a full stop', () => {
  for (const [name, { code, status, sentence, when }] of rows) {
    assert.match(String(code), /^\d{4,5}$/, name)
    assert.ok(status >= 400 && status <= 503, name)
    if (typeof sentence === 'string') assert.match(sentence, /[^.]$/, name)
    assert.match(when, /^[A-Z].*\.$/, name)
  }
})

test('no two rows have the same sentence, number and status', () => {
  const keys = rows.map(([, { code, status, sentence, when }]) =>
    [code, status, typeof sentence === 'string' ? sentence : when].join(' '),
  )
  assert.equal(new Set(keys).size, keys.length)
})
