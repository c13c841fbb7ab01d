import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { apiOf, wordsOf } from '../../../src/oauth/grants/resource-indicator.ts'
import { anyUrl } from '../../help/any-text.ts'
import { thorough } from '../../help/thorough.ts'

const apart = { issuer: 'https://id.example', aiHosts: ['ai.example', '2001:db8::1'] }
const together = { issuer: 'https://gate.example', aiHosts: ['gate.example'] }
const here = { issuer: 'http://127.0.0.1:8081', aiHosts: ['127.0.0.1'] }

for (const [resource, places, api] of [
  ['https://id.example', apart, 'management'],
  ['https://id.example/', apart, 'management'],
  ['https://id.example/client/v4', apart, 'management'],
  ['https://ID.example:443/client/v4/', apart, 'management'],
  ['https://id.example/client/v4/accounts', apart, 'management'],
  ['https://id.example/client/v4?a=b', apart, 'management'],
  ['https://id.example/client/v40', apart, null],
  ['https://id.example/other', apart, null],
  ['http://id.example/client/v4', apart, null],
  ['https://id.example:8443/client/v4', apart, null],
  ['https://id.example.evil.example/client/v4', apart, null],
  ['https://evil.example/client/v4', apart, null],
  ['https://user@id.example/client/v4', apart, null],
  ['https://:secret@id.example/client/v4', apart, null],
  ['https://id.example/client/v4#', apart, null],
  ['http://127.0.0.1/client/v4', { issuer: 'http://id.example', aiHosts: [] }, null],
  ['http://id.example/client/v4', { issuer: 'http://127.0.0.1', aiHosts: [] }, null],
  ['ftp://ai.example', apart, null],
  ['https://ai.example', apart, 'ai'],
  ['http://ai.example:8080/v1/anything', apart, 'ai'],
  ['https://[2001:db8::1]/', apart, 'ai'],
  ['https://sub.ai.example', apart, null],
  ['ai.example', apart, null],
  ['', apart, null],
  ['https://gate.example', together, 'ai'],
  ['https://gate.example/v1/a/b', together, 'ai'],
  ['https://gate.example/client/v4', together, 'management'],
  ['https://gate.example/client/v4/accounts/1/ai', together, 'ai'],
  ['https://gate.example/client/v4/accounts/1/ai/run', together, 'ai'],
  ['https://gate.example/client/v4/accounts/1/ai-gateway', together, 'management'],
  ['http://localhost:8081/client/v4', here, 'management'],
  ['http://[::1]:8081/client/v4', here, 'management'],
  ['http://127.0.0.1:8080', here, 'ai'],
  ['http://127.0.0.1:8080/client/v4', here, 'ai'],
  ['http://localhost:8080', here, null],
  ['https://id.example/client/v4', { issuer: null, aiHosts: [] }, null],
] as const) {
  test(`${resource} is ${api ?? 'none of ours'} where ${places.issuer} issues and ${places.aiHosts} has AI routes`, () => {
    assert.equal(apiOf(resource, places), api)
  })
}

test('whatever a client names, it is an API of ours only by a URL of ours', () => {
  const ours = new Set(['id.example', 'ai.example', '[2001:db8::1]'])
  const text = fc.oneof(anyUrl, fc.string())
  fc.assert(
    fc.property(text, resource => {
      const api = apiOf(resource, apart)
      assert.ok(api === null || ours.has(new URL(resource).hostname), resource)
    }),
    { numRuns: thorough(1_000, 300) },
  )
})

test('people are told the APIs and routes that a token is for', () => {
  for (const [apis, resources, words] of [
    [['management', 'ai'], [], 'the management API and AI gateways'],
    [['ai'], ['https://site.example/orders'], 'AI gateways and https://site.example/orders'],
    [[], [], 'no API of this gateway'],
  ] as const)
    assert.equal(wordsOf(apis, resources), words)
  assert.equal(wordsOf([]), 'no API of this gateway')
})
