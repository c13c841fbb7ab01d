import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../../help/any-text.ts'
import { readProviderConfig } from '../../../src/admin/provider-configs/body.ts'

const good = { provider_slug: 'openai', alias: 'main', default_config: true, secret: 'sk-1' }
const names = ['provider_slug', 'alias', 'default_config', 'secret', 'secret_id', 'rate_limit', '__proto__']
const value = fc.oneof(
  fc.string(),
  fc.string({ unit: anyCharacter }),
  fc.boolean(),
  fc.constantFrom('sk-1\r\nX: y', ' ', 'a'.repeat(10_000)),
  fc.jsonValue({ maxDepth: 1 }),
)
const members = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 3 })

test('any body is read as a key that fits into a header field, or refused', () => {
  let read = 0
  const bodies = fc.oneof(
    fc.jsonValue(),
    members,
    members.map(more => ({ ...good, ...more })),
  )
  fc.assert(
    fc.property(bodies, body => {
      const result = readProviderConfig(body)
      if (!('secret' in result)) return result.length > 0
      read++
      assert.match(result.secret, /^[!-~]+$/)
      assert.match(result.alias, /^[A-Za-z0-9._-]{1,64}$/)
      assert.ok(result.provider.length <= 64)
      return !Object.hasOwn(body as object, 'rate_limit') && !Object.hasOwn(body as object, 'secret_id')
    }),
    { numRuns: 2_000 },
  )
  assert.ok(read > 20, `${read} were read`)
})
