import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { forget, ignoreErrors } from '../../../src/net/socket/closed-socket.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void

/** Closes a socket with a listener, and returns what the listener refers to. */
async function closeSocket(then: (socket: Socket) => void): Promise<WeakRef<object>> {
  const held = { bytes: 0 }
  const socket = new Socket()
  socket.on('data', bytes => {
    held.bytes += bytes.length
  })
  socket.destroy()
  await once(socket, 'close')
  then(socket)
  return new WeakRef(held)
}

test('what the listeners of a closed socket refer to goes with the young', async () => {
  const forgotten = await closeSocket(forget)
  // What a WeakRef was made of stays until the turn is over.
  await new Promise(resolve => setImmediate(resolve))
  collect({ type: 'minor' })
  collect({ type: 'minor' })
  assert.equal(forgotten.deref(), undefined)
})

test('errors of a socket are ignored, also when it is forgotten', async () => {
  const socket = new Socket()
  ignoreErrors(socket)
  const closed = new Promise(resolve => socket.on('close', resolve))
  socket.destroy(new Error('broken'))
  await closed
  forget(socket)
  assert.doesNotThrow(() => socket.emit('error', new Error('broken again')))
})
