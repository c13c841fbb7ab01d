import assert from 'node:assert/strict'
import { test } from 'node:test'
import { originOf } from '../../src/pages/own-origins.ts'

test('a request belongs to the origin whose host it names, others to the first', () => {
  const all = ['https://id.example', 'https://gate.example', 'http://127.0.0.1:8081', 'http://[::1]:8081']
  for (const origin of all) assert.deepEqual(originOf(new URL(origin).host, all), { origin, isOurs: true })
  for (const host of ['evil.example', 'id.example:443', 'GATE.example', '127.0.0.1', '', undefined])
    assert.deepEqual(originOf(host, all), { origin: all[0], isOurs: false })
})
