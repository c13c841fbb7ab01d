import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { HeldWriteError } from '../../../src/net/socket/held-write-error.ts'

/** Opens a connection whose peer has yet to read what it was sent. */
async function startUpload(t: TestContext) {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const held = new HeldWriteError(client)
  await once(client, 'connect')
  await new Promise(resolve => client.write('unread', resolve))
  const [peer] = await accepted
  const events: string[] = []
  client.on('data', bytes => events.push(`${bytes}`))
  client.on('end', () => events.push('end'))
  client.on('error', ({ code }: NodeJS.ErrnoException) => events.push(code!))
  return { client, peer, held, events }
}

const writes: Readonly<Record<string, (client: Socket) => void>> = {
  'a write': client => client.write('more'),
  'several at once': client => {
    client.cork()
    client.write('more')
    client.write('and more')
    client.uncork()
  },
}

for (const [what, write] of Object.entries(writes)) {
  test(`what a peer sent before its reset is read although ${what} failed`, async t => {
    const { client, peer, held, events } = await startUpload(t)
    peer.write('refused')
    peer.destroy()
    // In the same turn, so that nothing was read yet.
    write(client)
    assert.ok(held.error, 'the write has failed')
    await once(client, 'end')
    assert.deepEqual(events, ['refused', 'end'])
    client.destroy()
  })

  test(`where nothing was sent since, ${what} that failed ends the socket at once`, async t => {
    const { client, peer, held, events } = await startUpload(t)
    held.hasSent = false
    peer.write('of before')
    peer.destroy()
    write(client)
    await new Promise(resolve => client.once('close', resolve))
    assert.match(events.join(), /^(EPIPE|ECONNRESET)$/)
    assert.equal(held.error, null)
  })
}

test('a write that was taken counts as sent', async t => {
  const { client, peer, held } = await startUpload(t)
  held.hasSent = false
  await new Promise(resolve => client.write('more', resolve))
  assert.ok(held.hasSent)
  peer.destroy()
  client.destroy()
})
