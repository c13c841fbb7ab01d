// What somebody hostile tries on every page there is: markup in what is stored, objects of another account, roles that lack a permission.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routes } from '../../src/dashboard/routes.ts'
import { formToken } from '../../src/pages/forms/csrf.ts'
import type { Visitor } from '../sign-in/site.ts'
import { furnish, states } from './fixtures.ts'
import { openDashboard } from './site.ts'

/** Returns what a person could do without the page of a form: its token is theirs to work out. */
function proofFor(visitor: Visitor, path: string, isBesideForm = false) {
  const form = isBesideForm ? path.slice(0, path.lastIndexOf('/')) : path
  return { form_token: formToken(visitor.cookies.get('gatehouse')!, form) }
}

/** A tag with what follows its name; texts of attributes may have any character but their quote. */
const tag = /<([a-z][a-z0-9]*)((?:\s+[^\s"'<>/=]+(?:="[^"]*")?)*)\s*\/?>/gi
const attribute = /\s+([^\s"'<>/=]+)(?:="([^"]*)")?/g

/** Finds what runs, or leads to what runs, in a page of ours. */
function activeIn(body: string): readonly string[] {
  // What is no tag that we write is one that somebody else did.
  const broken = body.replaceAll(tag, '').match(/<(?!\/[a-z0-9]+>|!doctype html>|!--)[^>]{0,60}/gi) ?? []
  const active = Array.from(body.matchAll(tag)).flatMap(([whole, name, rest]) => {
    const attributes = Array.from(rest!.matchAll(attribute), ([, key, value = '']) => [key!, value] as const)
    const bad = attributes.some(
      ([key, value]) =>
        /^(?:on|style$|srcdoc$|http-equiv$)/i.test(key) ||
        (/^(?:href|src|action|formaction)$/.test(key) && !/^(?:\/(?!\/)|#|https:\/\/|$)/.test(value)),
    )
    // The picture of the tab is part of the page.
    if (name === 'link' && rest!.startsWith(' rel="icon" href="data:image/svg+xml,')) return []
    const source = attributes.find(([key]) => key === 'src')?.[1]
    const isForeign = name === 'script' && source?.startsWith('/dashboard/assets/') !== true
    return bad || isForeign || name === 'style' || name === 'base' ? [whole.slice(0, 120)] : []
  })
  return [...broken, ...active]
}

test('no page of ours has anything that runs but its own modules, and each is kept nowhere and framed by nobody', async t => {
  const site = await openDashboard(t)
  const pathOf = await furnish(site)
  const shown = routes
    .filter(({ path, show }) => show !== undefined && !/\/(?:preview|export)$/.test(path))
    .map(({ path }) => path)
  for (const pattern of [...shown, ...states.map(state => `/dashboard/{account}${state}`)]) {
    const { status, body, headers } = await site.get(pathOf(pattern))
    // Those of the documentation lead to each other by relative links, and have a style of their own.
    const isDocs = pattern.startsWith('/dashboard/{account}/docs')
    const active = activeIn(body).filter(tag => !isDocs || !/^<(?:style>|a href="[\w#./-]+")/.test(tag))
    assert.deepEqual(active, [], pattern)
    const said = ['cache-control', 'x-frame-options', 'x-content-type-options', 'referrer-policy']
    assert.deepEqual(
      said.map(name => headers.get(name)),
      ['no-store', 'DENY', 'nosniff', 'same-origin'],
      pattern,
    )
    const policy = headers.get('content-security-policy')!
    if (status === 303) continue
    if (isDocs) assert.match(policy, /^default-src 'none';.* script-src 'none'/)
    else
      assert.match(
        policy,
        /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'; base-uri 'none'/,
      )
    assert.doesNotMatch(policy, /unsafe|\*/, pattern)
  }
})

test('what is looked for would be found', () => {
  for (const bad of [
    '<img src=x onerror=alert(1)>',
    '<a href="javascript:alert(1)">',
    '<a href="//evil.example">',
    '<p onclick="x">',
    '<p style="color:red">',
    '<script>alert(1)</script>',
    '<script src="/other.js"></script>',
    '<base href="/">',
    "<p title='x'>",
    '<iframe srcdoc="x">',
    '<svg/onload=alert(1)>',
    '<meta http-equiv="refresh">',
  ])
    assert.equal(activeIn(`<p class="a">b</p>${bad}`).length, 1, bad)
  assert.deepEqual(
    activeIn('<!doctype html><a href="/x?a=1" hidden>1 &#60; 2</a><br><input value="a > b">'),
    [],
  )
})

test('an administrator of one account reaches nothing of another, by whatever id and form', async t => {
  const site = await openDashboard(t)
  const pathOf = await furnish(site)
  const { account, kept } = site
  const other = await site.addAccount('other')
  // Its gateway has the same id: what is found under that would have to be of the first account.
  await kept.gateways.remove(other, 'default')
  const visitor = await site.signIn(await site.addPerson('Super Administrator', {}, other))
  const doneIn = async (place: string) =>
    (await kept.audit.list(place, { since: null, before: null, descending: true, offset: 0, limit: 5 })).total
  const before = [await doneIn(account), await doneIn(other)]
  // Codes of errors, providers and documentation are everybody’s; providers.test.ts has what others see of these.
  for (const { path: pattern, show, take, isBesideForm } of routes.filter(({ path }) =>
    /\{(?!account|code|part|provider|operation|guide)/.test(path),
  )) {
    const own = pathOf(pattern)
    for (const path of [own, own.replace(account, other)]) {
      const got = await visitor.get(path)
      assert.equal(got.status, show === undefined && path !== own ? 405 : 404, `GET ${pattern}`)
      if (take === undefined) continue
      const sent = await visitor.post(path, proofFor(visitor, path, isBesideForm))
      assert.ok([404, 422].includes(sent.status), `POST ${pattern}: ${sent.status}`)
      assert.ok(!sent.body.includes(account) || path === own, `POST ${pattern}`)
    }
  }
  assert.deepEqual([await doneIn(account), await doneIn(other)], before)
})
