import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { ClientPace } from '../../../../src/edge/client/pace/client-pace.ts'
import { stepsOver } from '../../../help/exchange.ts'
import { request } from '../../../help/raw.ts'

test('a body is looked at until it is there or the response begins, each from its own beginning', t => {
  const steps = stepsOver(t, [], { timeouts: { idle: 2_000 } })
  const post = () => steps.located(request('POST /', 'Content-Length: 4'))
  const watch = (x: ReturnType<typeof post>, pace: ClientPace) =>
    [0, 1_000, 2_000].map(now => pace.bodyFault(x, true, now))
  const slow = [null, null, 'body_idle']
  const pace = new ClientPace()
  assert.deepEqual(watch(post(), pace), slow)
  pace.exchangeEnded()
  assert.deepEqual(watch(post(), pace), slow)
  const answered = post()
  answered.stage = 'begun'
  assert.deepEqual(watch(answered, new ClientPace()), [null, null, null])
  assert.deepEqual(watch(steps.located(request('GET /')), new ClientPace()), [null, null, null])
})

test('a client that takes nothing of what waits is too slow, unless it may be', () => {
  const waiting = { bytesWritten: 100, writableLength: 100 } as unknown as Socket
  const minute = Array.from({ length: 61 }, (_, second) => second * 1_000)
  const isSlow = (socket: Socket, rate: number, pace = new ClientPace()) =>
    minute.some(now => pace.readsTooSlowly(socket, rate, now))
  assert.equal(isSlow(waiting, 500), true)
  assert.equal(isSlow(waiting, 0), false)
  assert.equal(isSlow({ bytesWritten: 100, writableLength: 0 } as unknown as Socket, 500), false)
})

test('one that has read all in between begins again', () => {
  const pace = new ClientPace()
  const socket = { bytesWritten: 100, writableLength: 100 }
  const look = (now: number) => pace.readsTooSlowly(socket as unknown as Socket, 500, now)
  for (let now = 0; now < 59_000; now += 1_000) assert.equal(look(now), false)
  socket.writableLength = 0
  assert.equal(look(59_000), false)
  socket.writableLength = 100
  for (let now = 60_000; now < 119_000; now += 1_000) assert.equal(look(now), false)
})
