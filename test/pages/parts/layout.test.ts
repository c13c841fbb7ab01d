import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { html } from '../../../src/base/text/html.ts'
import { appSchemeOf, redirectTo, withCookies, writePage } from '../../../src/pages/parts/layout.ts'

const page = { title: 'A', content: html`<h1>A</h1>` }
const headersOf = (response: { readonly headers: readonly (readonly [string, string])[] }) =>
  Object.fromEntries(response.headers)

test('a page is kept nowhere, shown in no frame, and runs and sends nothing that is not ours', () => {
  const { status, headers, body } = writePage(page)
  const { 'content-security-policy': policy, ...others } = Object.fromEntries(headers)
  assert.equal(status, 200)
  assert.deepEqual(others, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'publickey-credentials-get=(), publickey-credentials-create=()',
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  })
  assert.match(
    policy!,
    /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; script-src 'none'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'$/,
  )
  assert.doesNotMatch(body, /<script|style="| on[a-z]+=/)
})

test('the policy of a page allows what it is told to, and no more', () => {
  const policy = headersOf(
    writePage({ ...page, formScheme: 'com.example.app:', hasPictures: true, leadsTo: '/a', retryAfter: 9 }),
  )['content-security-policy']!
  assert.match(policy, /img-src data: https:; .*form-action 'self' com\.example\.app:; /)
})

test('a page with passkeys runs the one script that asks for them, for its own origin alone', () => {
  const { headers, body } = writePage({ ...page, hasPasskeys: true })
  const fields = Object.fromEntries(headers)
  assert.equal(
    fields['permissions-policy'],
    'publickey-credentials-get=(self), publickey-credentials-create=(self)',
  )
  const [, script] = /<script>(.*)<\/script>/s.exec(body)!
  const digest = hash('sha256', script!, 'base64')
  assert.match(fields['content-security-policy']!, /script-src 'sha256-[\w+/]{43}='; /)
  assert.ok(fields['content-security-policy']!.includes(`script-src 'sha256-${digest}'`))
})

test('a scheme that opens an app is what a policy can name, and nothing that could end a directive', () => {
  for (const [uri, scheme] of [
    ['com.example.app:/cb', 'com.example.app:'],
    ['com.example.app://a;b/cb', 'com.example.app:'],
    ['https://app.example/cb?x=1', null],
    ['http://127.0.0.1:4000/cb', null],
    ['no uri', null],
    ['', null],
  ] as const)
    assert.equal(appSchemeOf(uri), scheme, uri)
})

test('a redirect goes on with GET, and bears cookies', () => {
  const response = withCookies(redirectTo('/account'), ['a=1', 'b=2'])
  assert.equal(response.status, 303)
  assert.deepEqual(
    response.headers.filter(([name]) => name === 'set-cookie'),
    [
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ],
  )
  assert.equal(headersOf(response).location, '/account')
})
