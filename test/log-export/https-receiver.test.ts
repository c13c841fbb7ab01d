import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { HttpsDestination } from '../../src/config/model/log-export-config.ts'
import { HttpsReceiver } from '../../src/log-export/https-receiver.ts'
import type { Batch } from '../../src/log-export/outbox.ts'
import { Authority } from '../help/certificates.ts'

const batch: Batch = { id: 'b-1', file: 'b-1.ndjson.gz', entries: 1, content: gzipSync('{"id":1}\n') }

async function start(t: TestContext, respond: RequestListener): Promise<string> {
  const server = createServer(respond).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.closeAllConnections() ?? server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function receiver(t: TestContext, url: string, changes: Partial<HttpsDestination> = {}): HttpsReceiver {
  const config = {
    kind: 'https',
    url,
    headers: [],
    secrets: [],
    ca: null,
    timeout: 5000,
    ...changes,
  } as const
  const receiver = new HttpsReceiver(config, Date)
  t.after(() => receiver.close())
  return receiver
}

function responding(status: number, headers: Record<string, string> = {}, body = ''): RequestListener {
  return (request, response) =>
    request.resume().on('end', () => response.writeHead(status, headers).end(body))
}

test('a batch is compressed, has an id, and is signed with each secret', async t => {
  let seen: { readonly url: string; readonly headers: IncomingHttpHeaders; readonly body: Buffer } | null =
    null
  const url = await start(t, async (request, response) => {
    seen = { url: request.url!, headers: request.headers, body: await buffer(request) }
    response.end('ok')
  })
  const secrets = [randomBytes(32), randomBytes(32)]
  const destination = receiver(t, `${url}/in?token={batch_id}`, {
    headers: [['authorization', 'Bearer x']],
    secrets: secrets.map(secret => secret.toString('base64')),
  })
  equal(await destination.deliver(batch), null)
  const { headers, body, url: path } = seen!
  equal(path, '/in?token=b-1')
  equal(gunzipSync(body).toString(), '{"id":1}\n')
  equal(headers['content-type'], 'application/x-ndjson')
  equal(headers['content-encoding'], 'gzip')
  equal(headers.authorization, 'Bearer x')
  equal(headers['svc-export-id'], 'b-1')
  const timestamp = headers['svc-export-timestamp']
  ok(Math.abs(Number(timestamp) - Date.now() / 1000) < 60)
  const signed = Buffer.concat([Buffer.from(`b-1.${timestamp}.`), body])
  const signatures = secrets.map(
    secret => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`,
  )
  equal(headers['svc-export-signature'], signatures.join(' '))
})

test('without secrets there is no signature', async t => {
  let headers: IncomingHttpHeaders = {}
  const url = await start(t, (request, response) => {
    headers = request.headers
    request.resume().on('end', () => response.end())
  })
  equal(await receiver(t, url).deliver(batch), null)
  equal(headers['svc-export-signature'], undefined)
  equal(headers['svc-export-id'], 'b-1')
})

test('a response other than 2xx is a failure: some pass, others stay until somebody changes something', async t => {
  const outcomes: [status: number, isPermanent: boolean][] = [
    [307, true],
    [400, true],
    [401, true],
    [408, false],
    [413, true],
    [425, false],
    [429, false],
    [500, false],
    [503, false],
  ]
  for (const [status, isPermanent] of outcomes) {
    const url = await start(t, responding(status, { location: '/elsewhere' }, 'no\n  such table'))
    const failure = await receiver(t, url).deliver(batch)
    const message = `status ${status}: no such table`
    deepEqual(failure, { kind: 'rejected', message, isPermanent, retryAfter: 0 })
  }
})

test('Retry-After is read as seconds and as a date', async t => {
  const inSeconds = await start(t, responding(429, { 'retry-after': '7' }))
  equal((await receiver(t, inSeconds).deliver(batch))?.retryAfter, 7000)
  const date = new Date(Date.now() + 60_000).toUTCString()
  const atDate = await start(t, responding(503, { 'retry-after': date }))
  const { retryAfter = 0 } = (await receiver(t, atDate).deliver(batch)) ?? {}
  ok(retryAfter > 50_000 && retryAfter <= 60_000)
  const strange = await start(t, responding(503, { 'retry-after': 'soon' }))
  equal((await receiver(t, strange).deliver(batch))?.retryAfter, 0)
})

test('an address that does not respond, or says too much, is a failure that passes', async t => {
  const silent = await start(t, () => {})
  const late = await receiver(t, silent, { timeout: 100 }).deliver(batch)
  deepEqual([late?.kind, late?.message, late?.isPermanent], ['timeout', 'no response within 100 ms', false])
  const cut = await start(t, request => request.socket.destroy())
  equal((await receiver(t, cut).deliver(batch))?.kind, 'unreachable')
  const nobody = await receiver(t, 'http://127.0.0.1:1').deliver(batch)
  equal(nobody?.kind, 'unreachable')
  match(nobody!.message, /ECONNREFUSED/)
  const long = await start(t, responding(200, {}, 'x'.repeat(100_000)))
  match((await receiver(t, long).deliver(batch))!.message, /longer than 64 KiB/)
})

test('a certificate is checked, against the authorities that are configured', async t => {
  const authority = new Authority()
  const { certificate: cert, key } = authority.issue(['localhost'])
  const server = createTlsServer({ cert, key }, responding(204)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const url = `https://localhost:${(server.address() as AddressInfo).port}`
  const untrusted = await receiver(t, url).deliver(batch)
  equal(untrusted?.kind, 'unreachable')
  match(untrusted!.message, /certificate/)
  equal(await receiver(t, url, { ca: authority.certificate }).deliver(batch), null)
})

test('the message of a failure has no credential that the receiver repeats', async t => {
  const url = await start(t, (request, response) => {
    const said = `no access by ${request.headers.authorization} or ${request.headers['x-key']} at ${request.url} of%20mine`
    request.resume().on('end', () => response.writeHead(403).end(said))
  })
  const destination = receiver(t, `${url}/in?token=of%20mine&a=1`, {
    headers: [
      ['authorization', 'Bearer top-secret'],
      ['x-key', 'hidden-key'],
    ],
  })
  const { message } = (await destination.deliver(batch))!
  equal(message, 'status 403: no access by *** or *** at /in*** ***')
})
