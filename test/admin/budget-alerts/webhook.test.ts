// What a webhook may make of its sender: nothing but one request to a public address.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { webhookUrl } from '../../../src/admin/http/webhook-url.ts'
import { WebhookSender } from '../../../src/admin/budget-alerts/webhook.ts'
import { anyUrl } from '../../help/any-text.ts'
import { Authority } from '../../help/certificates.ts'
import { startHttps } from '../../help/https-server.ts'

const authority = new Authority()
const identity = authority.issue(['localhost'])
const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const message = { id: 'msg_1', body: '{}' }
const loopback = { isAllowed: () => true, ca: authority.certificate }

function senderFor(t: TestContext, options: ConstructorParameters<typeof WebhookSender>[0]): WebhookSender {
  const sender = new WebhookSender(options)
  t.after(() => sender.close())
  return sender
}

test('addresses that are not public are refused before a connection, however they are written', async t => {
  const { port, connections } = await startHttps(t, identity, (_, response) => response.end())
  const sender = senderFor(t, { ca: authority.certificate })
  for (const host of [
    'localhost',
    '127.0.0.1',
    '[::1]',
    '2130706433',
    '0x7f.1',
    '[::ffff:127.0.0.1]',
    '10.0.0.1',
  ]) {
    const failure = await sender.send(`https://${host}:${port}/`, message, [secret], 0)
    assert.equal(failure, 'its address is not on the public Internet', host)
  }
  assert.equal(connections(), 0)
})

test('redirects are not followed, and statuses other than 2xx are failures', async t => {
  const paths: string[] = []
  const { port } = await startHttps(t, identity, (request, response) => {
    paths.push(request.url!)
    response.writeHead(302, { location: '/other' }).end()
  })
  const failure = await senderFor(t, loopback).send(`https://localhost:${port}/hook`, message, [secret], 0)
  assert.deepEqual([failure, paths], ['status 302', ['/hook']])
})

test('a response that is late or cut off is a failure, and of a long one only a part is read', async t => {
  const { port } = await startHttps(t, identity, (request, response) => {
    if (request.url === '/long') response.end('x'.repeat(200_000))
    else if (request.url === '/gone') request.socket.destroy()
  })
  const [patient, hasty] = [senderFor(t, loopback), senderFor(t, { ...loopback, timeout: 400 })]
  const failures = await Promise.all(
    [[patient, 'long'] as const, [hasty, 'late'] as const, [patient, 'gone'] as const].map(([sender, path]) =>
      sender.send(`https://localhost:${port}/${path}`, message, [secret], 0),
    ),
  )
  assert.deepEqual(failures, [null, 'no response in time', 'UND_ERR_SOCKET'])
})

test('a certificate of an authority that is not trusted is a failure', async t => {
  const { port, connections } = await startHttps(t, identity, (_, response) => response.end())
  const sender = senderFor(t, { isAllowed: () => true })
  assert.match((await sender.send(`https://localhost:${port}/`, message, [secret], 0)) ?? '', /^[A-Z_]+$/)
  assert.equal(connections(), 1)
})

test('a URL that is accepted is https, has neither credentials nor a fragment, and stays what it is', () => {
  const text = fc.oneof(anyUrl, fc.string())
  const near = text.map(text => text.replace(/^[a-z]*:\/\//, 'https://'))
  fc.assert(
    fc.property(
      fc.oneof(
        text,
        near,
        text.map(text => `https://${text}`),
      ),
      text => {
        const read = webhookUrl(text)
        if ('flaw' in read) return
        const { protocol, username, password, hash, href } = new URL(read.value)
        assert.deepEqual([protocol, username, password, hash, href], ['https:', '', '', '', read.value])
        assert.deepEqual(webhookUrl(read.value), read)
      },
    ),
  )
  for (const wrong of [
    'http://a.example/',
    'https://u@a.example/',
    'https://:p@a.example',
    'https://a.example/#x',
  ])
    assert.ok('flaw' in webhookUrl(wrong), wrong)
  assert.deepEqual(webhookUrl('https://A.example'), { value: 'https://a.example/' })
})
