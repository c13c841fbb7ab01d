import assert from 'node:assert/strict'
import { test } from 'node:test'
import { everybody } from '../../../src/store/records/people.ts'
import {
  hasKnownPublisher,
  leadsToProven,
  otherHostIn,
  provenHostOf,
  shownNameOf,
} from '../../../src/oauth/clients/proven-host.ts'
import { clientWith, verificationWith } from './client-with.ts'

test('a host is proven once DNS has verified it, as long as the client names it', () => {
  const clientUri = 'https://app.example/'
  for (const status of ['pending', 'in_progress', 'failed', 'verified'] as const) {
    const client = clientWith({ clientUri, verification: verificationWith({ status }) })
    assert.equal(provenHostOf(client), status === 'verified' ? 'app.example' : null)
    assert.equal(provenHostOf({ ...client, clientUri: null }), null)
  }
  assert.equal(provenHostOf(clientWith()), null)
})

test('the publisher of a document is its host, and is known to nobody: anybody may publish one', () => {
  const url = 'https://app.example:8443/client.json'
  const document = { url, scope: null, keys: [], fetchedAt: 0, expiresAt: 1 }
  const described = clientWith({ account: everybody, visibility: 'public', document })
  assert.equal(provenHostOf(described), 'app.example')
  assert.equal(shownNameOf(described), 'app.example (A client)')
  const proven = { clientUri: 'https://app.example/', verification: verificationWith({ status: 'verified' }) }
  for (const [client, isKnown] of [
    [described, false],
    [{ ...described, ...proven }, false],
    [clientWith(), false],
    [clientWith({ visibility: 'public' }), true],
    [clientWith(proven), true],
    [clientWith({ ...proven, verification: null }), false],
  ] as const)
    assert.equal(hasKnownPublisher(client), isKnown)
  assert.equal(shownNameOf(clientWith(proven)), 'A client')
})

test('a redirect leads to the proven host, or to a name below it, over https', () => {
  const proven = 'shop.example'
  for (const uri of [
    'https://shop.example/cb',
    'https://SHOP.example:8443/cb?x=y',
    'https://cb.shop.example/',
  ])
    assert.equal(leadsToProven(uri, proven), true, uri)
  const elsewhere = [
    ...[
      'https://shop.example.evil.example/',
      'https://evilshop.example/',
      'https://example/',
      'https://shop.example./',
    ],
    ...[
      'http://shop.example/',
      'http://127.0.0.1/',
      'com.shop.example:/cb',
      'https://shop.example@evil.example/',
      'x',
    ],
  ]
  for (const uri of elsewhere) assert.equal(leadsToProven(uri, proven), false, uri)
})

test('a name may name the proven host, those below and above it, and no other', () => {
  for (const name of ['Cart', 'Cart of shop.svc.com', 'svc.com', 'a.b.shop.svc.com', 'Node.js'])
    assert.equal(otherHostIn(name, 'shop.svc.com'), null, name)
  assert.equal(otherHostIn('Cart, by paypal.com', 'shop.svc.com'), 'paypal.com')
  assert.equal(otherHostIn('shop.svc.com.evil.com', 'shop.svc.com'), 'shop.svc.com.evil.com')
  assert.equal(otherHostIn('xshop.svc.com', 'shop.svc.com'), 'xshop.svc.com')
})
