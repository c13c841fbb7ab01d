import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exactHost, hostPattern } from '../../../src/config/shape/host-rules.ts'
import { cpuTime } from '../../help/stall.ts'

test('an address may stand in brackets if it is one of IPv6', () => {
  assert.deepEqual(exactHost('[2001:DB8::1]'), { value: '2001:db8::1' })
  for (const text of ['[192.0.2.1]', '[a.example]', '[::1', '::1]', '[]', '[:]', '[[::1]]'])
    assert.ok('flaw' in exactHost(text), text)
})

test('a hostile host of a body is refused in linear time', () => {
  for (const rule of [exactHost, hostPattern])
    for (const unit of [':', ':a', '.', 'a.', '['])
      assert.ok(cpuTime(() => void rule(`[${unit.repeat(100_000 / unit.length)}`)) < 100, unit)
})
