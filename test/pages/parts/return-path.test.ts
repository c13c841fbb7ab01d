import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { safeReturnPath } from '../../../src/pages/parts/return-path.ts'
import { anyCharacter, anyUrl } from '../../help/any-text.ts'

test('a path of ours is where to go on', () => {
  for (const path of ['/', '/account', '/oauth2/consent/abc?x=1&y=%2F', '/invitation?token=a_-#top'])
    assert.equal(safeReturnPath(path, '/else'), path)
})

test('what leads elsewhere, or could for some reader, leads to the fallback', () => {
  for (const path of [
    null,
    undefined,
    '',
    'account',
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/a\\b',
    '/\t/evil.example',
    '/\n/evil.example',
    ' /account',
    '/a b',
    '/é',
    '/a/../b',
    '/./b',
    '/%2e%2e//evil.example',
    'javascript:alert(1)',
    `/${'a'.repeat(5000)}`,
    '/a\r\nset-cookie: x=1',
    '/a\0',
  ])
    assert.equal(safeReturnPath(path, '/else'), '/else', JSON.stringify(path))
})

test('whatever is asked for, a browser stays on this origin', () => {
  const piece = fc.constantFrom(
    '/',
    '\\',
    '.',
    '..',
    '//',
    'evil.example',
    '@',
    ':',
    '?',
    '#',
    '\t',
    '%2f',
    '%5c',
    'a',
    'é',
  )
  const text = fc.oneof(
    anyUrl,
    fc.string({ unit: anyCharacter }),
    fc.array(piece).map(pieces => pieces.join('')),
    fc.array(piece).map(pieces => `/${pieces.join('')}`),
  )
  fc.assert(
    fc.property(text, text => {
      const next = safeReturnPath(text, '/else')
      for (const base of ['https://id.example/sign-in', 'http://127.0.0.1:4180/a/b?c'])
        assert.equal(new URL(next, base).origin, new URL(base).origin)
      assert.match(next, /^\/(?![/\\])[\x21-\x7e]*$/)
    }),
    { numRuns: 5000 },
  )
})
