import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyUrl } from '../../help/any-text.ts'
import { readCustomProvider, readCustomProviderChange } from '../../../src/admin/custom-providers/body.ts'
import type { CustomProvider } from '../../../src/store/records/custom-provider.ts'

const good = { name: 'Team', slug: 'team', base_url: 'https://llm.example' }
const text = fc.oneof(
  fc.string(),
  anyUrl.map(url => url.replace(/^http:/, 'https:')),
  fc.constantFrom('https://user:pass@llm.example', 'https://[::1]:1', 'https://llm.example/a/../b', 'team'),
  fc
    .dictionary(
      fc.constantFrom('X-Team', 'Authorization', 'api-key', 'Host', 'Cookie', 'a b', 'Content-Length'),
      fc.oneof(fc.string(), fc.integer()),
    )
    .map(headers => JSON.stringify(headers)),
)
const names = ['name', 'slug', 'base_url', 'headers', 'enable', 'beta', 'position', 'link', '__proto__', 'x']
const members = fc.dictionary(fc.constantFrom(...names), fc.oneof(text, fc.jsonValue({ maxDepth: 1 })))
const bodies = fc.oneof(
  fc.jsonValue(),
  members,
  members.map(more => ({ ...good, ...more })),
)

function assertSound({ id, url, headers }: Pick<CustomProvider, 'id' | 'url' | 'headers'>): void {
  assert.match(id, /^[a-z0-9-]{1,57}$/)
  const { protocol, username, password, search, hash } = new URL(url)
  assert.deepEqual([protocol, username, password, search, hash], ['https:', '', '', '', ''])
  assertHeaders(headers)
}

function assertHeaders(headers: readonly string[]): void {
  assert.equal(headers.length % 2, 0)
  for (let i = 0; i < headers.length; i += 2) {
    assert.match(headers[i]!, /^[A-Za-z0-9-]{1,64}$/)
    assert.doesNotMatch(headers[i]!, /^(?:authorization|api-key|host|cookie|content-length)$/i)
    assert.match(headers[i + 1]!, /^[ -~]+$/)
  }
}

test('any body of a new provider is read as one that may be called, or refused', () => {
  let read = 0
  fc.assert(
    fc.property(bodies, body => {
      const result = readCustomProvider(body)
      if (!('id' in result)) return result.length > 0
      read++
      assertSound(result)
      return true
    }),
    { numRuns: 2_000 },
  )
  assert.ok(read > 20, `${read} were read`)
})

test('any change is read or refused, and never one of the slug or the address', () => {
  fc.assert(
    fc.property(bodies, body => {
      const result = readCustomProviderChange(body)
      if (Array.isArray(result)) return result.length > 0
      assert.ok(!('url' in result || 'id' in result))
      assertHeaders((result as Partial<CustomProvider>).headers ?? [])
      return true
    }),
    { numRuns: 2_000 },
  )
})

test('a note that is no Unicode is refused for that', () => {
  const faults = readCustomProviderChange({ link: '\ud800' })
  assert.ok(Array.isArray(faults))
  assert.deepEqual(
    faults.map(({ message, pointer }) => [message, pointer]),
    [['link must not contain lone surrogates', '/link']],
  )
})
