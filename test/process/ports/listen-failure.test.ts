// What an operator reads where a gateway cannot listen.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Listener } from '../../../src/config/model/config.ts'
import { assertFree, listenFailure } from '../../../src/process/ports/listen-failure.ts'

const admin = { host: '127.0.0.1', port: 8081 }

function plain(host: string, port: number): Listener {
  return { host, port, tls: false }
}

function secure(host: string, port: number): Listener {
  return { host, port, tls: true }
}

async function takePort(t: TestContext, host: string): Promise<number> {
  const other = createServer().listen(0, host)
  t.after(() => other.close())
  await once(other, 'listening')
  return (other.address() as AddressInfo).port
}

/** As Node words it: https://nodejs.org/api/errors.html#class-systemerror. */
function failure(code: string, facts: object): Error {
  return Object.assign(new Error(code), { code, ...facts })
}

function messageFor(cause: Error, listen: readonly Listener[]): string {
  return (listenFailure(cause, { listen, admin }) as Error).message
}

test('an address in use is named, with brackets for IPv6, who has it, and how to choose another', async t => {
  for (const [host, shown] of [
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '[::1]'],
  ] as const) {
    const port = await takePort(t, host)
    const cause = await assertFree({ host, port }).catch((cause: Error) => cause)
    const by = `by node (process ${process.pid})`
    assert.equal(
      messageFor(cause as Error, [plain(host, port)]),
      `cannot listen on ${shown}:${port}: the address is already in use ${by}; choose another with --listen, PORT or the setting listen`,
    )
  }
})

test('each listener is told how its own address is chosen, and the side port too', () => {
  const inUse = (port: number) => failure('EADDRINUSE', { address: '127.0.0.1', port })
  const both = [secure('127.0.0.1', 1), plain('localhost', 2)]
  const two = [plain('127.0.0.1', 1), plain('127.0.0.1', 2)]
  for (const [port, listen, how] of [
    [1, both, 'the setting listen[0]'],
    [2, both, '--listen, PORT or the setting listen[1]'],
    [2, two, 'the setting listen[1]'],
    [1, [secure('127.0.0.1', 1)], 'the setting listen'],
    [8081, both, '--admin or the setting admin'],
  ] as const)
    assert.ok(messageFor(inUse(port), listen).endsWith(`; choose another with ${how}`), how)
  // Such as that of a metric exporter: nothing here sets it.
  assert.equal(messageFor(inUse(3), both), 'cannot listen on 127.0.0.1:3: the address is already in use')
})

test('a port below 1024 is told what it needs', () => {
  const listen = [plain('0.0.0.0', 80)]
  assert.equal(
    messageFor(failure('EACCES', { address: '0.0.0.0', port: 80 }), listen),
    'cannot listen on 0.0.0.0:80: permission denied for this port; those below 1024 need root or the capability CAP_NET_BIND_SERVICE, or choose another with --listen, PORT or the setting listen',
  )
  assert.equal(
    messageFor(failure('EACCES', { address: '127.0.0.1', port: 8081 }), listen),
    'cannot listen on 127.0.0.1:8081: permission denied for this port; choose another with --admin or the setting admin',
  )
})

test('PORT is not advised where the host is wrong', () => {
  const listen = [plain('203.0.113.1', 80)]
  assert.equal(
    messageFor(failure('EADDRNOTAVAIL', { address: '203.0.113.1', port: 80 }), listen),
    'cannot listen on 203.0.113.1:80: this machine does not have this address; choose another with --listen or the setting listen',
  )
})

test('a name without an address is named', () => {
  for (const [code, reason] of [
    ['ENOTFOUND', 'the name does not resolve'],
    ['EAI_AGAIN', 'the name does not resolve at the moment'],
  ] as const)
    assert.equal(
      messageFor(failure(code, { hostname: 'no.test' }), [plain('no.test', 80)]),
      `cannot listen on no.test: ${reason}; choose another with --listen or the setting listen`,
    )
  const bug = new Error('bug')
  assert.equal(listenFailure(bug, { listen: [], admin }), bug)
})

test('an address that is released in time can be used', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  setTimeout(() => other.close(), 100)
  await assertFree({ host: '127.0.0.1', port }, 5_000)
})
