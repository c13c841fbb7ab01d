import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inputOf, inputWith } from './rule-input.ts'

test('the database is asked once for each place of an address, and without one there is none', () => {
  const asked: string[] = []
  const note = <Place>(address: string, place: Place): Place => {
    asked.push(address)
    return place
  }
  const geo = {
    countryOf: (address: string) => note(address, 'DE'),
    networkOf: (address: string) => note(address, 64_500),
  }
  const input = inputWith(geo, {})
  for (let i = 0; i < 2; i++) assert.deepEqual([input.country, input.network], ['DE', 64_500])
  assert.deepEqual(asked, ['192.0.2.1', '192.0.2.1'])
  const { country, network } = inputWith(null, {})
  assert.deepEqual([country, network], [null, null])
})

test('fields are lists of all their lines, and missing ones are empty', () => {
  const fields = ['User-Agent', 'A', 'x', 'b', 'user-agent', 'C', 'Referer', 'https://A.test/b']
  const { userAgent, referer, refererHost } = inputOf({ fields })
  assert.deepEqual([userAgent, referer, refererHost], ['a, c', 'https://A.test/b', 'a.test'])
  const none = inputOf({})
  assert.deepEqual([none.userAgent, none.referer, none.refererHost], ['', '', ''])
})

test('an address is of IPv6, or not, or there is none', () => {
  const isIPv6 = ['192.0.2.1', '2001:db8::1', ''].map(address => inputOf({ address }).isIPv6)
  assert.deepEqual(isIPv6, [false, true, false])
})
