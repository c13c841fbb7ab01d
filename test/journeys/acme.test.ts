// Automatic certificates as docs/tls.md tells it, by an authority of Let's Encrypt on loopback, and what two gateways do that share one Redis.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { promisify } from 'node:util'
import { AcmeServer } from '../help/acme-server.ts'
import { gatehouse } from '../help/command.ts'
import { blocksOf, readPage, section } from '../help/docs.ts'
import { freePort } from '../help/free-port.ts'
import { main, spawnGateway, startGateway } from '../help/gateway.ts'
import { startPebble } from '../help/pebble.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { startRedis } from '../help/redis.ts'

const run = promisify(execFile)
const [written, tries] = blocksOf(section(readPage('docs/tls.md'), 'Certificates that renew themselves'))

test('docs/tls.md works as written, in every worker, and a restart orders nothing', async t => {
  const folder = quickFolder(t, 'acme')
  const ports = { http: await freePort(), tls: await freePort() }
  const pebble = await startPebble(t, ['shop.example', 'new.example'], ports)
  const origin = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1')
  await once(origin, 'listening')
  t.after(() => origin.close())
  const { port } = origin.address() as AddressInfo
  const text = written!.text
    .replace(
      'terms_agreed: true,',
      `terms_agreed: true, directory: '${pebble.directory}', ca: file:acme.pem,`,
    )
    .replace('0.0.0.0:80', `127.0.0.1:${ports.http}`)
    .replace('0.0.0.0:443', `127.0.0.1:${ports.tls}`)
    .replace(':9000', `:${port}`)
  writeFileSync(join(folder, 'acme.pem'), pebble.ca)
  const yaml = `workers: 2\nadmin: 127.0.0.1:0\n${text}`
  writeFileSync(join(folder, 'my.yaml'), yaml)
  const [start, list, curl] = tries!.text.trim().split('\n')
  const [, ...args] = /^npm start -- (--config) (my\.yaml)$/.exec(start!)!
  const env = { ...process.env, GATEHOUSE_DATA: join(folder, 'data') }
  const gateway = await spawnGateway(t, [main, 'start', ...args], { cwd: folder, env })
  await gateway.logged('certificate issued')
  writeFileSync(join(folder, 'root.pem'), await pebble.root())
  const words = curl!.split(' ').slice(1)
  const to = ['-sS', '--cacert', 'root.pem', '--connect-to', `::127.0.0.1:${ports.tls}`]
  for (let i = 0; i < 6; i++)
    assert.equal((await run(process.env.CURL ?? 'curl', [...to, ...words], { cwd: folder })).stdout, 'hello')
  const command = list!.replace('npx gatehouse ', '').replace('my.yaml', join(folder, 'my.yaml')).split(' ')
  const { stdout } = await gatehouse(command, env)
  assert.match(
    stdout,
    /^HOST +SOURCE +STATUS +EXPIRES +NEXT ORDER +LAST ERROR\nshop\.example +acme +valid +20\S+ +20\S+ +-\n$/,
  )
  const renewal = ['certificates', 'renew', 'shop.example', '--config', join(folder, 'my.yaml')]
  const young = await gatehouse(renewal, env)
  assert.deepEqual([young.code, young.stderr.includes('is less than an hour old')], [1, true])
  const metrics = await gateway.metrics()
  assert.match(metrics, /^gatehouse_tls_automatic_certificates\{state="valid"\} 1$/m)
  assert.match(metrics, /^gatehouse_acme_orders_total\{result="issued"\} 1$/m)
  assert.match(
    metrics,
    /^gatehouse_tls_certificate_expiry_timestamp_seconds\{name="shop\.example",key_type="ec"\} \d+$/m,
  )
  // A host that a reload adds is served by both workers, beside the first one.
  writeFileSync(join(folder, 'my.yaml'), yaml.replace('[shop.example]', '[shop.example, new.example]'))
  await gateway.logged('certificate issued', ({ host }) => host === 'new.example')
  for (let i = 0; i < 6; i++)
    for (const url of ['https://new.example/', 'https://shop.example/'])
      assert.equal((await run(process.env.CURL ?? 'curl', [...to, url], { cwd: folder })).stdout, 'hello')
  gateway.signal('SIGTERM')
  assert.equal((await gateway.exited).code, 0)
  const next = await spawnGateway(t, [main, 'start', ...args], { cwd: folder, env })
  assert.equal((await run(process.env.CURL ?? 'curl', [...to, ...words], { cwd: folder })).stdout, 'hello')
  assert.deepEqual(
    next.lines.filter(({ msg }) => msg === 'certificate order started'),
    [],
  )
})

test('one of two gateways on one Redis orders a certificate; when it is killed the other takes over, and both serve it', async t => {
  const [server, redis] = [await AcmeServer.start(t), await startRedis(t)]
  const validating = Promise.withResolvers<void>()
  const killed = Promise.withResolvers<void>()
  server.beforeValidation = () => {
    validating.resolve()
    return killed.promise
  }
  const config = (ports: AcmeServer['ports']) => `
listen: ['127.0.0.1:${ports.http}', { address: '127.0.0.1:${ports.tls}', tls: true }]
admin: 127.0.0.1:0
store: { url: '${redis.url}', command_timeout: 5s }
secrets: { key: ${Buffer.alloc(32, 7).toString('hex')} }
tls: { auto: { directory: '${server.directory}', terms_agreed: true } }
pools: { a: { origins: ['http://127.0.0.1:9'] } }
zones: [{ hosts: [site.test], routes: [{ path: /, pool: a }] }]`
  const ports = await Promise.all([1, 2].map(async () => ({ http: await freePort(), tls: await freePort() })))
  const gateways = await Promise.all(ports.map(own => startGateway(t, config(own))))
  await validating.promise
  const began = gateways.findIndex(({ lines }) =>
    lines.some(({ msg }) => msg === 'certificate order started'),
  )
  const [first, second] = [gateways[began]!, gateways[1 - began]!]
  server.ports = ports[1 - began]!
  first.signal('SIGKILL')
  await first.exited
  killed.resolve()
  const { resumed } = await second.logged('certificate order started')
  assert.equal(resumed, true)
  await second.logged('certificate issued')
  assert.deepEqual([server.orders.length, server.accounts.size, server.faults], [1, 1, []])
  const third = await startGateway(t, config(ports[began]!))
  for (const { tls } of ports) {
    const socket = connect({ host: '127.0.0.1', port: tls, servername: 'site.test', ca: server.ca })
    await once(socket, 'secureConnect')
    socket.destroy()
  }
  assert.deepEqual(
    third.lines.filter(({ msg }) => msg === 'certificate order started'),
    [],
  )
  assert.equal(server.orders.length, 1)
  // Started again while Redis is gone, it has the certificate from its own copy.
  third.signal('SIGTERM')
  await third.exited
  await redis.kill()
  const env = { ...process.env, GATEHOUSE_DATA: join(dirname(third.file), 'data') }
  await spawnGateway(t, [main, 'start', '--config', third.file], { env })
  const socket = connect({
    host: '127.0.0.1',
    port: ports[began]!.tls,
    servername: 'site.test',
    ca: server.ca,
  })
  await once(socket, 'secureConnect')
  socket.destroy()
})
