// What a person sees of an app that only its document vouches for.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consentPage, type ConsentView } from '../../../src/pages/views/consent.ts'

const app = {
  name: '<i>Gatehouse</i>',
  document: 'https://evil.example/oauth/client.json',
  logo: null,
  publisher: { host: 'evil.example', isVerified: true },
  isPrivate: false,
  policyUri: null,
  termsUri: null,
} as const

const view: ConsentView = {
  token: 'a'.repeat(43),
  action: '/oauth2/consent/abc',
  app,
  redirectUri: 'https://elsewhere.example/callback',
  email: 'ada@shop.example',
  accounts: [],
  scopes: [],
  apis: [],
  resources: [],
  remembered: null,
  chosen: null,
  self: '/oauth2/consent/abc',
}

test('the host of a document comes first, and its name is only what the app calls itself', () => {
  const { title, content } = consentPage(view)
  assert.equal(title, 'Allow evil.example?')
  const { markup } = content
  assert.match(markup, /<h1><b><bdi>evil\.example<\/bdi><\/b> asks to act for you<\/h1>/)
  const [host, name, warning] = ['evil.example', '&#60;i&#62;Gatehouse', 'Anybody can choose this name']
  assert.ok(!markup.includes('<i>'))
  const places = [host, name, warning].map(text => markup.indexOf(text))
  assert.ok(
    places.every((place, i) => place > (places[i - 1] ?? -1)),
    markup,
  )
  assert.ok(markup.includes('https://evil.example/oauth/client.json'))
  assert.match(markup, /elsewhere\.example<\/b>.*Not evil\.example, the verified domain/)
})

test('an app that was registered is called by its name', () => {
  const { title, content } = consentPage({ ...view, app: { ...app, name: 'Shop', document: null } })
  assert.equal(title, 'Allow Shop?')
  assert.ok(!content.markup.includes('Calls itself'))
})
