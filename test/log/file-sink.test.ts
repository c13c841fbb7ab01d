// A log on a full disk, which a limit on the size of the file stands for: the system refuses the bytes in the same way.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { FileSink } from '../../src/log/file-sink.ts'
import { LineWriter } from '../../src/log/line-writer.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { until } from '../help/until.ts'

const limit = 8 * 512

interface Line {
  readonly number?: number
  readonly msg?: string
  readonly lines?: number
  readonly from?: string
  readonly to?: string
}

/** Writes numbered lines until it is told to end. */
async function writeLines(): Promise<void> {
  const writer = new LineWriter(new FileSink(1), { maxDelay: 1, maxBytes: 10_000, retry: 20 })
  let number = 0
  const timer = setInterval(() => writer.write(`{"number":${number++},"fill":"${'x'.repeat(100)}"}\n`), 1)
  await once(process.stdin, 'data')
  clearInterval(timer)
  await writer.drain(5_000)
  process.stderr.write(`${number}`)
  process.exit()
}

if (process.argv[2] === 'write') await writeLines()
else
  test('a log goes on once there is room on the disk, with no line in parts, and says how many were lost between when', async t => {
    const file = join(quickFolder(t, 'log'), 'log')
    const command = `trap '' XFSZ; ulimit -S -f 8; exec "$0" "$1" write >> "$2"`
    const args = ['-c', command, process.execPath, fileURLToPath(import.meta.url), file]
    const child = spawn('/bin/sh', args, { stdio: ['pipe', 'ignore', 'pipe'] })
    t.after(() => child.kill('SIGKILL'))
    const ended = once(child, 'close')
    const total = once(child.stderr, 'data')
    const isFull = () => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) >= limit
    /** Makes room; while the file is full, nothing is written. */
    const empty = () => {
      const text = readFileSync(file, 'latin1')
      truncateSync(file)
      return text
    }
    await until(isFull)
    // More than may wait is written meanwhile.
    await sleep(500)
    let text = ''
    while (!text.includes('log lines lost')) {
      await until(isFull)
      text += empty()
    }
    child.stdin.write('end')
    while (child.exitCode === null) {
      await Promise.race([ended, sleep(5)])
      if (isFull()) text += empty()
    }
    text += empty()
    const lines = text
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as Line)
    let next = 0
    let lost = 0
    for (const { number, msg, lines: count = 0, from, to } of lines)
      if (number === undefined) {
        assert.equal(msg, 'log lines lost: the log could not be written in time')
        assert.ok(Date.parse(from!) <= Date.parse(to!) && count > 0)
        lost += count
      } else {
        assert.ok(number >= next, 'no line twice, and none before another')
        next = number + 1
      }
    assert.ok(lost > 0)
    const written = lines.filter(({ number }) => number !== undefined).length
    assert.equal(written + lost, Number(String((await total)[0])))
  })
