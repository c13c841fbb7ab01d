import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { describeUserAgent } from '../../../src/pages/parts/user-agent.ts'
import { anyCharacter } from '../../help/any-text.ts'

test('browsers are named by what they are, and not by what they claim to be too', () => {
  const mac = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko)'
  for (const [text, words] of [
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
    [`${mac} Chrome/140.0.0.0 Safari/537.36`, 'Chrome on macOS'],
    [`${mac} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`, 'Edge on macOS'],
    [`${mac} Version/18.0 Safari/605.1.15`, 'Safari on macOS'],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile Safari/604.1',
      'Safari on iOS',
    ],
    ['Mozilla/5.0 (Linux; Android 15; Pixel 9) Chrome/140.0.0.0 Mobile Safari/537.36', 'Chrome on Android'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/140.0.0.0 Safari/537.36 OPR/120.0.0.0',
      'Opera on Windows',
    ],
    ['curl/8.14.1', 'curl/8.14.1'],
    ['Mozilla/5.0', 'Mozilla/5.0'],
    [`${'a'.repeat(50)}/1`, 'a'.repeat(40)],
    ['<b>', 'Unknown browser'],
    ['', 'Unknown browser'],
    [null, 'Unknown browser'],
  ] as const)
    assert.equal(describeUserAgent(text), words)
})

test('no text of others is shown but a short plain word', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), text => {
      assert.match(describeUserAgent(text), /^[\w.+/ -]{1,60}$/)
    }),
  )
})
