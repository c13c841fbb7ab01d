import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { mock, test } from 'node:test'
import { Tally } from '../../src/metrics/counters/distribution.ts'
import { LineWriter } from '../../src/log/line-writer.ts'

/** A reader that takes pieces only when the test lets it. */
class SlowReader extends Writable {
  readonly pieces: string[] = []
  #done: ((error?: Error) => void) | null = null

  override _write(piece: Buffer, _: string, done: (error?: Error) => void): void {
    this.pieces.push(piece.toString())
    this.#done = done
  }

  take(error?: Error): void {
    this.#done?.(error)
  }
}

const line = (size: number) => `${'x'.repeat(size - 1)}\n`

test('lines are gathered into pieces that a pipe takes whole', () => {
  const reader = new SlowReader()
  const writer = new LineWriter(reader)
  for (let i = 0; i < 5; i++) writer.write(line(1000))
  assert.deepEqual(
    reader.pieces.map(({ length }) => length),
    [4000],
  )
})

test('the size of a piece is in bytes, and no line is ever split', () => {
  const reader = new SlowReader()
  const writer = new LineWriter(reader)
  writer.write(`${'é'.repeat(1500)}\n`)
  writer.write(`${'é'.repeat(1500)}\n`)
  assert.deepEqual(
    reader.pieces.map(({ length }) => length),
    [1501],
  )
  const large = new SlowReader()
  const second = new LineWriter(large)
  second.write(line(10_000))
  second.flush()
  assert.deepEqual(large.pieces, [line(10_000)])
})

test('a sink that takes more gets larger pieces, each whole until it is written', async () => {
  const pieces: string[] = []
  let piece: Buffer | null = null
  let take = () => {}
  const sink = {
    ...{ destroyed: false, pieceSize: 10_000, on: () => {} },
    write: (given: Buffer, done: () => void) => {
      piece = given
      take = done
    },
  }
  const writer = new LineWriter(sink)
  const lines = Array.from({ length: 60 }, (_, i) => `${String(i).repeat(700)}\n`)
  for (const text of lines.slice(0, 30)) writer.write(text)
  let isDrained = false
  const drained = writer.drain(1000).then(() => (isDrained = true))
  for (const text of lines.slice(30)) writer.write(text)
  writer.flush()
  while (!isDrained) {
    pieces.push(piece!.toString())
    take()
    await new Promise(setImmediate)
  }
  await drained
  assert.equal(pieces.join(''), lines.join(''))
  assert.ok(pieces.every(({ length }) => length <= 10_000))
  assert.ok(pieces.length < 12, String(pieces.length))
})

test('what is due while a piece is written waits for it in one piece, however often it is due', async () => {
  const reader = new SlowReader()
  const writer = new LineWriter(reader)
  writer.write('0\n')
  writer.flush()
  for (let i = 1; i < 100; i++) {
    writer.write(`${i}\n`)
    writer.flush()
  }
  const drained = writer.drain(1000)
  for (let i = 0; i < 2; i++) {
    reader.take()
    await new Promise(setImmediate)
  }
  await drained
  assert.equal(reader.pieces.length, 2)
  assert.equal(reader.pieces.join(''), Array.from({ length: 100 }, (_, i) => `${i}\n`).join(''))
})

test('a line waits for others within its time limit', t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const reader = new SlowReader()
  const writer = new LineWriter(reader, { maxDelay: 250 })
  writer.write('one\n')
  t.mock.timers.tick(200)
  writer.write('two\n')
  assert.deepEqual(reader.pieces, [])
  t.mock.timers.tick(50)
  assert.deepEqual(reader.pieces, ['one\ntwo\n'])
})

test('one piece is written at a time, and what a slow reader leaves queued is bounded, counted and told', async () => {
  const reader = new SlowReader()
  const dropped = new Tally()
  const writer = new LineWriter(reader, { maxBytes: 10_000, dropped })
  for (let i = 0; i < 30; i++) writer.write(line(1000))
  const drained = writer.drain(1000)
  for (let i = 0; i < 3; i++) {
    assert.equal(reader.pieces.length, i + 1)
    reader.take()
    await new Promise(setImmediate)
  }
  await drained
  const lines = reader.pieces.map(piece => piece.split('\n').slice(0, -1))
  // It is told as soon as half of the room is free.
  const loss = JSON.parse(lines.at(-1)!.pop()!) as { readonly lines: number; readonly level: string }
  assert.deepEqual([loss.lines, loss.level], [20, 'warn'])
  assert.deepEqual(
    lines.map(({ length }) => length),
    [4, 4, 2],
  )
  assert.equal(dropped.value, 20)
})

test('that lines were lost is told in the form of the log', async () => {
  for (const isNumeric of [false, true]) {
    const reader = new SlowReader()
    const writer = new LineWriter(reader, { maxBytes: 100, isNumeric })
    writer.write(line(60))
    writer.write(line(60))
    writer.flush()
    reader.take()
    const { level, time, msg } = JSON.parse(reader.pieces.at(-1)!)
    assert.deepEqual([level, typeof time], isNumeric ? [40, 'number'] : ['warn', 'string'])
    assert.match(msg, /^log lines lost/)
  }
})

test('draining ends at its deadline when nobody reads', async () => {
  const writer = new LineWriter(new SlowReader())
  writer.write('last words\n')
  await writer.drain(20)
})

test('draining an empty writer finishes at once', async () => {
  const timeout = mock.method(globalThis, 'setTimeout')
  await new LineWriter(new SlowReader()).drain(1000)
  assert.equal(timeout.mock.callCount(), 0)
  timeout.mock.restore()
})

test('when the reader has gone, waiting ends and later lines are dropped', async () => {
  const reader = new SlowReader()
  const dropped = new Tally()
  const writer = new LineWriter(reader, { dropped })
  writer.write('one\n')
  writer.flush()
  writer.write('two\n')
  const drained = writer.drain(60_000)
  reader.take(Object.assign(new Error('gone'), { code: 'EPIPE' }))
  await drained
  writer.write('three\n')
  writer.flush()
  assert.deepEqual(reader.pieces, ['one\n'])
  assert.equal(dropped.value, 2)
})
