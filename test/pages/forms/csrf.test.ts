import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formToken, isFormToken, isFromOwnPage, newSecret } from '../../../src/pages/forms/csrf.ts'

test('a token is good for the form and the bearer that it was made for', () => {
  const [secret, other] = [newSecret(), newSecret()]
  const token = formToken(secret, '/sign-in')
  assert.ok(isFormToken(token, secret, '/sign-in'))
  assert.ok(!isFormToken(token, other, '/sign-in'))
  assert.ok(!isFormToken(token, secret, '/sign-out'))
  for (const wrong of [undefined, '', token.slice(1), `${token}x`, 'é'.repeat(43), secret])
    assert.ok(!isFormToken(wrong, secret, '/sign-in'))
})

test('a token does not show the secret that it is bound to', () => {
  const secret = newSecret()
  assert.ok(!formToken(secret, '/account').includes(secret))
})

test('a form comes from a page of ours, as far as the browser says', () => {
  const origin = 'https://id.example'
  const from = (headers: Record<string, string>) => isFromOwnPage(headers, origin)
  assert.ok(from({ origin, 'sec-fetch-site': 'same-origin' }))
  assert.ok(from({ origin }))
  assert.ok(from({}))
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: '' },
    { origin: 'http://id.example' },
    { origin: 'https://id.example:8443' },
    { origin, 'sec-fetch-site': 'same-site' },
    { origin, 'sec-fetch-site': 'cross-site' },
    { origin, 'sec-fetch-site': 'none' },
    { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
  ])
    assert.ok(!from(headers), JSON.stringify(headers))
})
