// A certificate whose chain and key are in one file, in no order: what clients get, before and after it is replaced.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { connect } from 'node:tls'
import { Authority } from '../help/certificates.ts'
import { main, spawnGateway, writeConfig } from '../help/gateway.ts'

const root = new Authority('Root')
const middle = root.intermediate('Middle')

function onePem(names: readonly string[]): string {
  const { certificate, key } = middle.issue(names)
  return middle.certificate + key + certificate
}

/** Returns the names of the certificates by which a client that knows the root alone trusts the gateway. */
async function namesShown(url: string): Promise<readonly string[]> {
  const { hostname: host, port } = new URL(url)
  const socket = connect({ host, port: Number(port), servername: 'a.test', ca: root.certificate })
  await once(socket, 'secureConnect')
  const leaf = socket.getPeerCertificate(true)
  socket.destroy()
  return [leaf.subjectaltname!, leaf.issuerCertificate.subject.CN as string]
}

test('clients get the chain in its order, and that of another file as soon as it is there', async t => {
  const yaml = `listen: [{ address: '127.0.0.1:0', tls: true }]\nadmin: 127.0.0.1:0\ntls: { certificates: [{ certificate: file:one.pem }] }\nzones: [{ hosts: [a.test] }]\n`
  const file = writeConfig(t, yaml)
  const pem = join(dirname(file), 'one.pem')
  writeFileSync(pem, onePem(['a.test']))
  const env = { ...process.env, GATEHOUSE_DATA: join(dirname(file), 'data') }
  const gateway = await spawnGateway(t, [main, 'start', '--config', file], { env }, file)
  assert.deepEqual(await namesShown(gateway.edge), ['DNS:a.test', 'Middle'])
  writeFileSync(`${pem}.new`, onePem(['a.test', 'b.test']))
  renameSync(`${pem}.new`, pem)
  await gateway.logged('configuration reloaded')
  assert.deepEqual(await namesShown(gateway.edge), ['DNS:a.test, DNS:b.test', 'Middle'])
  writeFileSync(`${pem}.new`, onePem(['a.test']) + middle.issue(['c.test']).key)
  renameSync(`${pem}.new`, pem)
  const { reason } = await gateway.logged('configuration reload failed, keeping the previous one')
  assert.match(String(reason), /certificate has 2 private keys: leave the one of the certificate$/)
  assert.deepEqual(await namesShown(gateway.edge), ['DNS:a.test, DNS:b.test', 'Middle'])
})
