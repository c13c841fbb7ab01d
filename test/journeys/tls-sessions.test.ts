// TLS sessions of clients, resumed by any process and machine that shares the store.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { test } from 'node:test'
import { connect, type SecureVersion } from 'node:tls'
import { Authority } from '../help/certificates.ts'
import { type RunningGateway, startGateway } from '../help/gateway.ts'
import { startRedis } from '../help/redis.ts'

const authority = new Authority()

async function portOf(gateway: RunningGateway): Promise<number> {
  const { edge } = await gateway.logged('ready')
  return (edge as unknown as readonly { port: number }[])[0]!.port
}

/** Makes a handshake and a request; tells whether it resumed, and the session that a later one may resume. */
async function visit(gateway: RunningGateway, session?: Buffer, maxVersion: SecureVersion = 'TLSv1.3') {
  const socket = connect({
    host: '127.0.0.1',
    port: await portOf(gateway),
    ca: authority.certificate,
    servername: 'site.test',
    maxVersion,
    ...(session && { session }),
  })
  let latest = session
  socket.on('session', (made: Buffer) => {
    latest = made
  })
  await once(socket, 'secureConnect')
  const isResumed = socket.isSessionReused()
  socket.end('GET / HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n')
  await once(socket.resume(), 'close')
  return { isResumed, session: latest! }
}

test('sessions are resumed by every worker, and by another machine after the first has ended', async t => {
  const redis = await startRedis(t)
  const key = randomBytes(32).toString('base64')
  const { certificate, key: privateKey } = authority.issue(['site.test'])
  const yaml = `
workers: 2
listen: [{ address: '127.0.0.1:0', tls: true }]
admin: 127.0.0.1:0
store: { url: '${redis.url}', command_timeout: 5s }
secrets: { key: '\${SECRETS_KEY}' }
tls: { certificates: [{ certificate: '\${CERTIFICATE}', key: '\${PRIVATE_KEY}' }] }
zones: [{ hosts: [site.test], routes: [] }]
`
  const env = { SECRETS_KEY: key, CERTIFICATE: certificate, PRIVATE_KEY: privateKey }
  const one = await startGateway(t, yaml, { env })
  const first = await visit(one)
  const old = await visit(one, undefined, 'TLSv1.2')
  assert.deepEqual([first.isResumed, old.isResumed], [false, false])
  const resumeAll = async (gateway: RunningGateway) => {
    for (let i = 0; i < 8; i++) {
      assert.equal((await visit(gateway, first.session)).isResumed, true)
      assert.equal((await visit(gateway, old.session, 'TLSv1.2')).isResumed, true)
    }
  }
  await resumeAll(one)
  const metrics = await one.metrics()
  assert.match(metrics, /^gatehouse_tls_ticket_key_shared 1$/m)
  const [, since] = /^gatehouse_tls_ticket_key_start_timestamp_seconds (\S+)$/m.exec(metrics)!
  const age = Date.now() / 1000 - Number(since)
  assert.equal(age >= 0 && age < 12 * 3600, true)
  one.signal('SIGTERM')
  assert.equal((await one.exited).code, 0)
  // With a data folder of its own.
  await resumeAll(await startGateway(t, yaml.replace('workers: 2', 'workers: 1'), { env }))
})
