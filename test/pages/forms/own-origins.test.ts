import assert from 'node:assert/strict'
import { test } from 'node:test'
import { originOf, plainHttpPage } from '../../../src/pages/forms/own-origins.ts'

test('a request belongs to the origin whose host it names, others to the first', () => {
  const all = ['https://id.example', 'https://gate.example', 'http://127.0.0.1:8081', 'http://[::1]:8081']
  for (const origin of all) assert.deepEqual(originOf(new URL(origin).host, all), { origin, isOurs: true })
  for (const host of ['evil.example', 'id.example/x', 'a@gate.example', 'evil.example:8081', '', undefined])
    assert.deepEqual(originOf(host, all), { origin: all[0], isOurs: false })
})

test('another spelling of a host is that host, and another port of it leads to the one that is there', () => {
  const all = ['https://id.example', 'https://gate.example', 'http://127.0.0.1:8081']
  for (const host of ['GATE.example', 'gate.example:443', 'Gate.Example:443'])
    assert.deepEqual(originOf(host, all), { origin: all[1], isOurs: true })
  for (const [host, origin] of [
    ['gate.example.', all[1]],
    ['gate.example:80', all[1]],
    ['gate.example:8443', all[1]],
    ['127.0.0.1', all[2]],
  ] as const)
    assert.deepEqual(originOf(host, all), { origin, isOurs: false })
})

test('a visitor over plain HTTP is told that the site uses https', () => {
  const told = plainHttpPage('https://gate.example', '/dashboard?x', 'http://gate.example')
  assert.equal(told?.status, 403)
  assert.match(told!.content.markup, /href="https:\/\/gate\.example\/dashboard\?x"/)
  for (const base of ['https://gate.example', null])
    assert.equal(plainHttpPage('https://gate.example', '/', base), null)
  assert.equal(plainHttpPage('http://127.0.0.1:8081', '/', 'http://127.0.0.1:8081'), null)
})
