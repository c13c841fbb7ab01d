// What a refused AI call is told of the way to a token: of its own host, account, gateway and fault, whatever the call before it was told.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { challengeFor } from '../../../src/edge/ai/metadata.ts'
import type { Exchange } from '../../../src/edge/exchange/exchange.ts'

const call = fc.record({
  host: fc.constantFrom('ai.example', 'AI.example:8443', 'other.example', 'not a host', null),
  proto: fc.constantFrom('http', 'https', null),
  issuer: fc.constantFrom('https://id.example', null),
  account: fc.constantFrom('a1', 'a2'),
  gateway: fc.constantFrom('g1', 'g2', null),
  error: fc.constantFrom('invalid_token', 'insufficient_scope', null),
} as const)

test('a challenge is about the call that was refused, whichever came before it', () => {
  fc.assert(
    fc.property(fc.array(call, { minLength: 2, maxLength: 30 }), calls => {
      for (const { host, proto, issuer, account, gateway, error } of calls) {
        const target = gateway === null ? { api: 'rest', account } : { api: 'native', account, gateway }
        const x = {
          head: { host },
          way: proto === null ? null : { host, proto },
          scheme: proto ?? 'http',
          plane: { ai: { issuer } },
          ai: { target },
        } as unknown as Exchange
        const path = gateway === null ? `/client/v4/accounts/${account}/ai` : `/v1/${account}/${gateway}`
        const isNamed = issuer !== null && host !== null && host !== 'not a host'
        const origin = `${proto === 'https' ? 'https' : 'http'}://${host?.toLowerCase()}`
        const parts = [
          ...(isNamed ? [`resource_metadata="${origin}/.well-known/oauth-protected-resource${path}"`] : []),
          'scope="ai_gateway.run"',
          ...(error === null ? [] : [`error="${error}"`]),
        ]
        assert.equal(challengeFor(x, error), `Bearer ${parts.join(', ')}`)
      }
    }),
  )
})
