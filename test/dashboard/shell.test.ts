import assert from 'node:assert/strict'
import { test } from 'node:test'
import { html } from '../../src/base/text/html.ts'
import { writeView } from '../../src/dashboard/shell.ts'

const account = { id: 'a', name: '<b>one</b>' }
const viewer = {
  email: 'ada@example.com',
  account,
  accounts: [
    { ...account, path: '/dashboard/a/tokens' },
    { id: 'b', name: 'two', path: '/dashboard/b/tokens' },
  ],
  sections: [
    { title: 'Overview', path: '/dashboard/a', api: 'gateway', guide: 'dashboard' },
    { title: 'Tokens', path: '/dashboard/a/tokens', api: 'api-tokens', guide: 'people' },
  ],
  path: '/dashboard/a/tokens/new',
  mayFind: true,
}
const view = { title: 'New <i>', content: html`<p>x</p>` }

const currentIn = (path: string, more: object = {}) =>
  [...writeView({ ...view, ...more }, { ...viewer, path }).body.matchAll(/aria-current="(\w+)">(\w+)</g)].map(
    ([, kind, name]) => [kind, name],
  )

test('the section of a page is marked, and no other', () => {
  assert.deepEqual(currentIn('/dashboard/a/tokens/new'), [['true', 'Tokens']])
  assert.deepEqual(currentIn('/dashboard/a/tokens'), [['page', 'Tokens']])
  assert.deepEqual(currentIn('/dashboard/a'), [['page', 'Overview']])
  assert.deepEqual(currentIn('/dashboard/a/other'), [])
  const crumbs = [{ title: 'Tokens', path: '/dashboard/a/tokens' }]
  assert.deepEqual(currentIn('/dashboard/a/other', { crumbs }), [['true', 'Tokens']])
})

test('names of others are text, and other accounts are a step away', () => {
  const { body } = writeView({ ...view, crumbs: [{ title: '<u>', path: '/x' }] }, viewer, '<s>')
  assert.doesNotMatch(body, /<[bius]>/)
  assert.match(body, /<a href="\/dashboard\/b\/tokens"><bdi>two<\/bdi><\/a>/)
})

test('accounts of the same name are told apart by their ids', () => {
  const accounts = ['cafe01', 'cafe02'].map(id => ({ id: id + '0'.repeat(26), name: 'Shop', path: '/x' }))
  const twins = writeView(view, { ...viewer, account: accounts[0]!, accounts }).body
  for (const { id } of accounts)
    assert.ok(twins.includes(`<bdi>Shop</bdi> <span class="hint">${id.slice(0, 8)}…</span>`))
  const alone = writeView(view, { ...viewer, account: accounts[0]!, accounts: [accounts[0]!] }).body
  assert.ok(!alone.includes('cafe0100…'))
})

test('a page may show pictures and frames only if it says so', () => {
  const policyOf = (more: object) =>
    new Map(writeView({ ...view, ...more }, viewer).headers).get('content-security-policy')!
  assert.doesNotMatch(policyOf({}), /https:|frame-src/)
  assert.match(policyOf({ hasPictures: true }), /img-src 'self' data: https:;/)
  assert.match(policyOf({ hasFrames: true }), /frame-src 'self';/)
})

test('a ray is looked for from each page of an account, by whoever may see what has one', () => {
  assert.match(writeView(view, viewer).body, /<form class="find" [^>]*action="\/dashboard\/a\/find">/)
  for (const less of [{ mayFind: false }, { account: null }])
    assert.doesNotMatch(writeView(view, { ...viewer, ...less }).body, /class="find"/)
})
