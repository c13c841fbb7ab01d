import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SignInGateConfig } from '../../src/config/model/protect-config.ts'
import { Sites } from '../../src/sign-in/sites.ts'
import { zoneTo } from '../help/edge.ts'

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
