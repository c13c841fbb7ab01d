import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { SignInGateConfig } from '../../src/config/model/protect-config.ts'
import { Sites } from '../../src/sign-in/sites.ts'
import { anyCharacter } from '../help/any-text.ts'
import { zoneTo } from '../help/edge.ts'
import * as readers from '../help/path-readers.ts'

const gate: SignInGateConfig = {
  kind: 'sign_in',
  accounts: [],
  roles: [],
  domains: [],
  condition: null,
  fields: [],
  endsOpen: false,
}

test('a site is at a host that a zone lists, not at any that the default zone takes', () => {
  const hosts = ['wiki.example', '*.team.example']
  const zone = zoneTo([], { zone: { hosts, isDefault: true }, route: { protect: [gate] } })
  const open = zoneTo([], { zone: { name: 'open', hosts: ['open.example'] } })
  const sites = new Sites(() => [zone, open])
  for (const origin of ['https://wiki.example', 'https://wiki.example:8443', 'https://a.team.example'])
    assert.equal(sites.find(origin)?.origin, origin)
  for (const origin of [
    'https://evil.example',
    'https://team.example',
    'https://wiki.example.evil.example',
    'https://open.example',
    'http://wiki.example',
    'http://localhost',
    'https://192.0.2.1',
    'https://wiki.example/',
    null,
  ])
    assert.equal(sites.find(origin), null, String(origin))
})

test('whatever text says where to go back to, it is a path of the site behind the gate', () => {
  const [root] = zoneTo([], { route: { protect: [gate] } }).routes
  const routes = [root!, { ...root!, path: '/open', protect: null }]
  const sites = new Sites(() => [zoneTo([], { zone: { hosts: ['wiki.example'], routes } })])
  const site = sites.find('https://wiki.example')!
  const piece = fc.oneof(
    fc.constantFrom(
      '/',
      '//',
      '\\',
      '.',
      '..',
      '/open',
      'open',
      '%2f',
      '%2e',
      '%5c',
      '%00',
      '%0a',
      '%09',
      ';',
      '?',
      '#',
      '@',
      ':',
    ),
    fc.constantFrom(
      'https:',
      'javascript:',
      'evil.example',
      'wiki.example',
      '\t',
      '\n',
      '\r',
      ' ',
      '\0',
      '\u2028',
      '\uff0f',
      'é',
      '%252f',
    ),
    fc.string({ maxLength: 4, unit: anyCharacter }),
  )
  const text = fc.array(piece, { maxLength: 8 }).map(pieces => pieces.join(''))
  let own = 0
  fc.assert(
    fc.property(
      fc.oneof(
        text,
        text.map(rest => `/${rest}`),
      ),
      to => {
        const path = sites.pathAt(site, to)
        assert.match(path, /^\/(?![/\\])[!-~]*$/)
        // As a field, on a page, and from the address that the browser is at.
        for (const base of [site.href, 'https://wiki.example/cdn-cgi/signed-in?a=b']) {
          const url = new URL(path, base)
          assert.equal(url.origin, site.origin)
          assert.equal(url.pathname + url.search + url.hash, path)
        }
        for (const read of Object.values(readers).filter(one => one !== readers.readLoosely))
          for (const reading of read(path)) assert.ok(!/^\/open(?:\/|$)/.test(reading), path)
        if (path !== '/') own++
      },
    ),
    { numRuns: 1_000 },
  )
  assert.ok(own > 20, `${own}`)
})
