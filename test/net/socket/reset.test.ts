import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { reset } from '../../../src/net/socket/reset.ts'
import { until } from '../../help/until.ts'
import { thorough } from '../../help/thorough.ts'

const deeds: Readonly<Record<string, (socket: Socket) => unknown>> = {
  write: socket => socket.writable && socket.write('x'),
  writeMuch: socket => socket.writable && socket.write(Buffer.alloc(8_000_000)),
  end: socket => socket.end(),
  endSoon: socket => socket.destroySoon(),
  turn: () => turn(),
  tick: () => new Promise<void>(resolve => process.nextTick(resolve)),
  microtask: async () => {},
}

const open = () => readdirSync('/proc/self/fd').length

test('whatever was written or ended before, a reset closes the connection and leaves no descriptor', async t => {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  await turn()
  const before = open()
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...Object.keys(deeds)), { maxLength: 5 }),
      fc.boolean(),
      async (names, reads) => {
        const accepted = once(server, 'connection') as Promise<[Socket]>
        const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {})
        if (reads) client.resume()
        const [socket] = await accepted
        const errors: Error[] = []
        socket.on('error', error => errors.push(error))
        for (const name of names) {
          const done = deeds[name]!(socket)
          if (done instanceof Promise) await done
        }
        reset(socket)
        if (!socket.closed) await once(socket, 'close')
        client.destroy()
        await until(() => open() === before)
        assert.deepEqual(errors, [])
      },
    ),
    {
      numRuns: thorough(200, 60),
      examples: [
        [['end'], true],
        [['end', 'tick'], true],
        [['write', 'end', 'tick'], true],
      ],
    },
  )
})
