import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { connect, createServer, type TLSSocket } from 'node:tls'
import { selfSigned } from '../../../src/process/demo/self-signed.ts'

test('the certificate is for its name, signed by its own key, and valid now and for its days', () => {
  const { cert } = selfSigned('shop.example', 7)
  const read = new X509Certificate(cert)
  assert.equal(read.subject, 'CN=shop.example')
  assert.equal(read.checkHost('shop.example'), 'shop.example')
  assert.equal(read.checkHost('other.example'), undefined)
  assert.ok(read.verify(read.publicKey))
  assert.ok(read.validFromDate.getTime() < Date.now())
  const days = (read.validToDate.getTime() - Date.now()) / 86_400_000
  assert.ok(days > 6.9 && days < 7.1)
})

test('it can be read whatever its length, also where its last line is full', () => {
  for (let length = 1; length <= 48; length++) {
    const { cert } = selfSigned('a'.repeat(length))
    assert.doesNotMatch(cert, /\n\n/)
    assert.equal(new X509Certificate(cert).subject, `CN=${'a'.repeat(length)}`)
  }
})

test('a TLS client refuses it, unless it is told to trust it', async t => {
  const identity = selfSigned('shop.example')
  const server = createServer(identity, (socket: TLSSocket) => socket.on('error', () => {}).end('welcome'))
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const greet = (options: object) =>
    connect({ port, host: '127.0.0.1', servername: 'shop.example', ...options }).toArray()
  await assert.rejects(greet({}), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  assert.equal(String(Buffer.concat(await greet({ ca: identity.cert }))), 'welcome')
})
