import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { Clock } from '../../src/base/clock.ts'
import type { LogExportConfig } from '../../src/config/model/log-export-config.ts'
import { createLogger } from '../../src/log/log.ts'
import type { DeliveryFailure, Destination } from '../../src/log-export/destination.ts'
import { deletionLine } from '../../src/log-export/lines.ts'
import type { Batch } from '../../src/log-export/outbox.ts'
import { Sender, type SenderReport } from '../../src/log-export/sender.ts'
import { SpoolWriter } from '../../src/log-export/spool-writer.ts'
import { AiMetrics } from '../../src/metrics/counters/ai-metrics.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { turnsUntil, until } from '../help/until.ts'
import { account, batch, config } from './exported.ts'

/** A spool, writers on it, and a destination that can be told what to do. */
class Ground {
  readonly folder: string
  readonly received: Batch[] = []
  readonly reports: SenderReport[] = []
  readonly lines: string[] = []
  readonly metrics = new AiMetrics()
  failure: DeliveryFailure | null = null
  /** What a delivery waits for before it ends. */
  wait: Promise<void> | null = null
  attempts = 0
  /** Ms by which the clock is ahead. */
  ahead = 0
  readonly clock: Clock = {
    now: () => Date.now() + this.ahead,
    monotonic: () => performance.now() + this.ahead,
  }
  readonly #t: TestContext

  constructor(t: TestContext) {
    this.#t = t
    this.folder = join(quickFolder(t, 'export'), 'spool')
  }

  writer(changes: Partial<LogExportConfig> = {}, options: { readonly maxBytes?: number } = {}): SpoolWriter {
    const log = createLogger('info', { write: line => this.lines.push(line) })
    const parts = { folder: this.folder, config: config(changes), metrics: this.metrics, log }
    return new SpoolWriter({ ...parts, clock: this.clock, retry: 20, ...options })
  }

  sender(changes: Partial<LogExportConfig> = {}): Sender {
    const destination: Destination = {
      deliver: async batch => {
        this.attempts++
        await this.wait
        if (this.failure === null) this.received.push(batch)
        return this.failure
      },
      tick: () => {},
      close: () => {},
    }
    const sender = new Sender({
      folder: this.folder,
      config: config(changes),
      open: () => ({ ...destination }),
      report: report => this.reports.push(report),
      clock: this.clock,
      interval: 10,
    })
    const ended = sender.run()
    this.#t.after(() => {
      sender.close()
      return ended
    })
    return sender
  }

  /** Resolves once the writer has nothing in memory. */
  async flushed(writer: SpoolWriter): Promise<void> {
    await turnsUntil(() => writer.unspooled === 0)
  }

  get lineIds(): string[] {
    return this.received.flatMap(({ content }) => idsIn(gunzipSync(content).toString()))
  }

  get last(): SenderReport | undefined {
    return this.reports.at(-1)
  }

  sum(name: 'sent' | 'dropped' | 'damaged'): number {
    return this.reports.reduce((sum, report) => sum + report[name], 0)
  }
}

function idsIn(text: string): string[] {
  return text.split('\n').flatMap(line => (line === '' ? [] : JSON.parse(line).id))
}

const unreachable = { kind: 'unreachable', message: 'down', isPermanent: false, retryAfter: 0 } as const

test('what several processes flush arrives once, in order, and leaves nothing behind', async t => {
  const ground = new Ground(t)
  const [one, two] = [ground.writer(), ground.writer()]
  const ids: string[] = []
  for (let i = 0; i < 20; i++) {
    const id = String(i).padStart(16, '0')
    ids.push(id)
    const writer = i % 2 === 0 ? one : two
    writer.take(account, 'default', batch(id))
    await ground.flushed(writer)
    ground.ahead++
  }
  ground.sender()
  await until(() => ground.sum('sent') === ids.length)
  deepEqual(ground.lineIds, ids)
  await until(() => ground.last?.waiting?.entries === 0)
  deepEqual(readdirSync(ground.folder).sort(), ['batches', 'lock'])
  deepEqual(readdirSync(join(ground.folder, 'batches')), [])
  await Promise.all([one.close(), two.close()])
})

test('a line that a process tells comes after what other processes flush just then', async t => {
  const ground = new Ground(t)
  const [one, two] = [ground.writer(), ground.writer()]
  await one.tell(deletionLine({ ray: 'deletion', account, now: 0 }, 'default'))
  two.take(account, 'default', batch('later'))
  ground.sender()
  await until(() => ground.sum('sent') === 2)
  deepEqual(ground.lineIds, ['later', 'deletion'])
})

test('only its owner may read what waits', async t => {
  const ground = new Ground(t)
  const writer = ground.writer()
  writer.take(account, 'default', batch('1'))
  await writer.close()
  equal(statSync(ground.folder).mode & 0o777, 0o700)
  for (const file of readdirSync(ground.folder))
    equal(statSync(join(ground.folder, file)).mode & 0o777, 0o600)
})

test('a batch is retried under the same id, also by the next sender, until the destination confirms it', async t => {
  const ground = new Ground(t)
  ground.failure = unreachable
  const writer = ground.writer()
  writer.take(account, 'default', batch('1'))
  const first = ground.sender()
  await until(() => ground.last?.failure?.message === 'down')
  const [waiting] = readdirSync(join(ground.folder, 'batches'))
  first.close()
  ground.failure = null
  ground.sender()
  await until(() => ground.sum('sent') === 1)
  equal(`${ground.received[0]!.id}.ndjson.gz`, waiting)
  equal(ground.last?.failure, null)
})

test('retries become rarer, and wait as long as the destination asks', async t => {
  const ground = new Ground(t)
  ground.failure = { ...unreachable, retryAfter: 120_000 }
  ground.writer().take(account, 'default', batch('1'))
  ground.sender()
  await until(() => ground.attempts === 1)
  ground.ahead += 100_000
  const reports = ground.reports.length
  await until(() => ground.reports.length > reports + 5)
  equal(ground.attempts, 1)
  ground.failure = null
  ground.ahead += 30_000
  await until(() => ground.sum('sent') === 1)
})

test('a failure at the destination before a reload does not delay the one after it', async t => {
  const ground = new Ground(t)
  const [writer, end] = [ground.writer(), Promise.withResolvers<void>()]
  ground.failure = { kind: 'rejected', message: 'wrong key', isPermanent: true, retryAfter: 0 }
  ground.wait = end.promise
  writer.take(account, 'default', batch('0000000000000001'))
  await ground.flushed(writer)
  const sender = ground.sender()
  await until(() => ground.attempts === 1)
  sender.reload(config())
  end.resolve()
  await until(() => ground.attempts === 2, 5_000)
})

test('a second sender waits for the first', async t => {
  const ground = new Ground(t)
  const first = ground.sender()
  await until(() => ground.last?.waiting !== undefined && ground.last.waiting !== null)
  const other = new Ground(t)
  Object.assign(other, { folder: ground.folder })
  other.sender()
  await until(() => other.reports.length > 3)
  equal(other.last?.waiting, null)
  first.close()
  ground.writer().take(account, 'default', batch('1'))
  await until(() => other.sum('sent') === 1)
  deepEqual(ground.received, [])
})

test('beyond the bound on the disk, the oldest entries are dropped and counted', async t => {
  const ground = new Ground(t)
  ground.failure = unreachable
  const writer = ground.writer()
  const maxDisk = 2 ** 16
  ground.sender({ maxDisk, batchSize: 1 })
  for (let i = 0; i < 40; i++) {
    writer.take(account, 'default', batch(`entry-${i}`))
    await ground.flushed(writer)
    ground.ahead += 1100
  }
  await until(() => ground.sum('dropped') > 0 && (ground.last?.waiting?.bytes ?? Infinity) <= maxDisk)
  ground.failure = null
  ground.ahead += 100_000
  await until(() => ground.sum('sent') + ground.sum('dropped') === 40)
  const ids = Array.from({ length: 40 }, (_, i) => `entry-${i}`)
  deepEqual(ground.lineIds, ids.slice(-ground.sum('sent')))
})

test('what the disk has no room for as a batch is sent all the same, and becomes one once there is room', async t => {
  const ground = new Ground(t)
  ground.sender()
  await until(() => ground.last?.waiting?.entries === 0)
  const batches = join(ground.folder, 'batches')
  rmdirSync(batches)
  const writer = ground.writer()
  writer.take(account, 'default', batch('1'))
  await until(() => ground.sum('sent') === 1)
  ground.failure = unreachable
  writer.take(account, 'default', batch('2'))
  await until(() => ground.last?.failure?.message === 'down')
  mkdirSync(batches)
  await until(() => readdirSync(batches).length === 1)
  ground.failure = null
  ground.ahead += 100_000
  await until(() => ground.sum('sent') === 2)
  deepEqual(ground.lineIds, ['1', '2'])
  await until(() => ground.last?.waiting?.entries === 0)
  deepEqual(readdirSync(batches), [])
})

test('entries from before the clock was set back do not wait for their time', async t => {
  const ground = new Ground(t)
  const writer = ground.writer()
  ground.ahead = 365 * 86_400_000
  writer.take(account, 'default', batch('1'))
  await ground.flushed(writer)
  ground.ahead = 0
  writer.take(account, 'default', batch('2'))
  ground.sender()
  await until(() => ground.sum('sent') === 2)
  deepEqual(ground.lineIds, ['1', '2'])
})

test('what an interrupted write left in the spool is removed, but no file that is being written', async t => {
  const ground = new Ground(t)
  mkdirSync(ground.folder)
  const [old, young] = ['1-old.rows.tmp', '2-young.rows.tmp'].map(name => join(ground.folder, name))
  for (const file of [old!, young!]) writeFileSync(file, 'x')
  utimesSync(old!, 0, Date.now() / 1000 - 3600)
  ground.sender()
  await until(() => ground.last?.waiting?.entries === 0)
  await until(() => readdirSync(ground.folder).includes('lock'))
  deepEqual(readdirSync(ground.folder).sort(), ['2-young.rows.tmp', 'batches', 'lock'])
})

test('a damaged file is counted, and delays nothing', async t => {
  const ground = new Ground(t)
  const writer = ground.writer()
  writer.take(account, 'default', batch('1', '2'))
  await writer.close()
  const [file] = readdirSync(ground.folder)
  writeFileSync(join(ground.folder, file!), readFileSync(join(ground.folder, file!)).subarray(0, 100))
  ground.writer().take(account, 'default', batch('3'))
  ground.sender()
  await until(() => ground.sum('sent') === 1)
  equal(ground.sum('damaged'), 2)
})

test('while the disk takes nothing, a writer keeps what it can, drops the oldest, and recovers', async t => {
  const ground = new Ground(t)
  writeFileSync(ground.folder, 'in the way')
  const writer = ground.writer({}, { maxBytes: 1500 })
  for (let i = 0; i < 20; i++) writer.take(account, 'default', batch(`entry-${i}`))
  await until(() => ground.lines.length > 0)
  match(ground.lines[0]!, /writing AI log entries for the export failed/)
  const { value: dropped } = ground.metrics.exportedEntries.dropped
  ok(dropped > 0)
  rmSync(ground.folder)
  await ground.flushed(writer)
  ground.sender()
  await until(() => ground.sum('sent') === 20 - dropped)
  equal(ground.lineIds.at(-1), 'entry-19')
  equal(ground.lines.length, 2)
})

test('nothing is taken while the export is off', async t => {
  const ground = new Ground(t)
  const writer = ground.writer()
  writer.reload(null)
  writer.take(account, 'default', batch('1'))
  await writer.tell('{}')
  equal(ground.metrics.unspooledEntries!(), null)
  await writer.close()
  equal(statSync(ground.folder, { throwIfNoEntry: false }), undefined)
})
