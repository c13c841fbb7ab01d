import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isShared, redirectHostOf, redirectMatches } from '../../../src/oauth/clients/redirect-uri.ts'

test('a redirect URI matches a registered one letter for letter', () => {
  const registered = ['https://app.example/cb', 'com.example.app:/cb']
  for (const uri of registered) assert.equal(redirectMatches(uri, registered), true, uri)
  for (const uri of [
    'https://app.example/cb/',
    'https://app.example/CB',
    'https://app.example/cb?a=1',
    'https://app.example:443/cb',
    'https://user@app.example/cb',
    'http://app.example/cb',
    'com.example.app:/other',
    '',
  ])
    assert.equal(redirectMatches(uri, registered), false, uri)
})

for (const host of ['127.0.0.1', '[::1]']) {
  test(`http on ${host} matches with any port, and nothing else differs`, () => {
    const registered = ['https://app.example/cb', `http://${host}:8080/cb?a=1`]
    for (const port of ['', ':1', ':65535'])
      assert.equal(redirectMatches(`http://${host}${port}/cb?a=1`, registered), true, port)
    for (const uri of [
      `http://${host}:65536/cb?a=1`,
      `http://${host}:/cb?a=1`,
      `http://${host}:80@evil.example/cb?a=1`,
      `http://${host}.evil.example/cb?a=1`,
      `https://${host}:8080/cb?a=1`,
      `http://${host}:8080/cb`,
      'http://localhost:8080/cb?a=1',
    ])
      assert.equal(redirectMatches(uri, registered), false, uri)
  })
}

test('a port is not ignored for other hosts, localhost included', () => {
  for (const host of ['localhost', 'app.example'])
    assert.equal(redirectMatches(`http://${host}:1/cb`, [`http://${host}:2/cb`]), false)
})

test('other programs of the device can receive what goes to its ports and to the schemes of apps', () => {
  for (const uri of [
    'http://127.0.0.1/cb',
    'https://localhost/cb',
    'https://[::1]:1/',
    'com.example.app:/cb',
    'no uri',
  ])
    assert.equal(isShared(uri), true, uri)
  assert.equal(isShared('https://app.example/cb'), false)
})

test('a person is shown the host with its port, the scheme of an app, or localhost for their own device', () => {
  assert.equal(redirectHostOf('https://app.example/cb'), 'app.example')
  assert.equal(redirectHostOf('https://app.example:8443/cb'), 'app.example:8443')
  assert.equal(redirectHostOf('com.example.app:/cb'), 'com.example.app:')
  assert.equal(redirectHostOf('http://127.0.0.1:5000/cb'), 'localhost')
  assert.equal(redirectHostOf('http://[::1]/cb'), 'localhost')
})
