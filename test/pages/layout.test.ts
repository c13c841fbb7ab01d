import assert from 'node:assert/strict'
import { test } from 'node:test'
import { html } from '../../src/base/text/html.ts'
import { formTargetOf, redirectTo, withCookies, writePage } from '../../src/pages/layout.ts'

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
  const policy = headersOf(writePage({ ...page, formTargets: ['https://app.example'], hasPictures: true }))[
    'content-security-policy'
  ]!
  assert.match(policy, /img-src data: https:; .*form-action 'self' https:\/\/app.example; /)
})

test('what a policy calls the target of a redirect is its origin or its scheme, and nothing that could end a directive', () => {
  for (const [uri, target] of [
    ['https://app.example/cb?x=1', 'https://app.example'],
    ['https://app.example:8443/cb', 'https://app.example:8443'],
    ['http://127.0.0.1:4000/cb', 'http://127.0.0.1:4000'],
    ['http://[::1]:4000/cb', 'http://[::1]:4000'],
    ['com.example.app:/cb', 'com.example.app:'],
    ['com.example.app://a;b/cb', 'com.example.app:'],
    ['no uri', null],
    ['', null],
  ] as const)
    assert.equal(formTargetOf(uri), target, uri)
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
