import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { selfSigned } from '../../../../src/process/demo/self-signed.ts'
import { pauseBefore } from '../../../../src/store/redis/server/connect.ts'
import { RedisStore } from '../../../../src/store/redis/redis-store.ts'
import { freePort } from '../../../help/free-port.ts'
import { startRedis } from '../../../help/redis.ts'
import { root } from '../../../help/source.ts'
import { openRedis } from '../open.ts'

test('the pause before an attempt doubles from 100 ms to 2 s, and is never twice the same', () => {
  for (const [attempt, longest] of [
    [1, 100],
    [2, 200],
    [3, 400],
    [6, 2_000],
    [5_000, 2_000],
  ] as const) {
    const pauses = Array.from({ length: 100 }, () => pauseBefore(attempt))
    assert.ok(pauses.every(pause => pause >= longest / 2 && pause <= longest))
    assert.ok(new Set(pauses).size > 10)
  }
})

test('over TLS a server is believed with a certificate that this machine or the caller trusts, and no other', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-tls-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { key, cert } = selfSigned('localhost')
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  writeFileSync(keyFile, key)
  writeFileSync(certFile, cert)
  const port = await freePort()
  const files = ['--tls-cert-file', certFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', certFile]
  await startRedis(t, { args: ['--tls-port', String(port), ...files, '--tls-auth-clients', 'no'] })
  const url = `rediss://localhost:${port}`
  assert.equal((await openRedis(t, url)).isUnreachable, true)
  const trusting = await RedisStore.open(url, { commandTimeout: 10_000, ca: cert })
  t.after(() => trusting.close())
  assert.equal(trusting.isUnreachable, false)
  assert.deepEqual(await trusting.accounts.list(), [])
  const child = spawn(process.execPath, ['--input-type=module', '--eval', listAccounts], {
    env: { ...process.env, STORE: url, NODE_EXTRA_CA_CERTS: certFile },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  assert.equal(await text(child.stdout), '[]\n')
})

const listAccounts = `
  import { RedisStore } from ${JSON.stringify(join(root, 'src/store/redis/redis-store.ts'))}
  const store = await RedisStore.open(process.env.STORE, { commandTimeout: 10_000 })
  console.log(JSON.stringify(await store.accounts.list()))
  await store.close()`
