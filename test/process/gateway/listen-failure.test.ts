// What an operator reads where a gateway cannot listen.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { assertFree, listenFailure } from '../../../src/process/gateway/listen-failure.ts'

test('an address in use is named, with brackets for IPv6', async t => {
  for (const [host, shown] of [
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '[::1]'],
  ] as const) {
    const other = createServer().listen(0, host)
    t.after(() => other.close())
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const message = `cannot listen on ${shown}:${port}: the address is already in use`
    await assert.rejects(assertFree({ host, port }), { message })
  }
})

test('a name without an address is named', async () => {
  for (const [code, reason] of [
    ['ENOTFOUND', 'the name does not resolve'],
    ['EAI_AGAIN', 'the name does not resolve at the moment'],
  ] as const) {
    // As Node words it: https://nodejs.org/api/errors.html#class-systemerror, with the name in place of an address.
    const cause = Object.assign(new Error(`getaddrinfo ${code} no.test`), { code, hostname: 'no.test' })
    assert.equal((listenFailure(cause) as Error).message, `cannot listen on no.test: ${reason}`)
  }
  const bug = new Error('bug')
  assert.equal(listenFailure(bug), bug)
})

test('an address that is released in time can be used', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  setTimeout(() => other.close(), 100)
  await assertFree({ host: '127.0.0.1', port }, 5_000)
})
