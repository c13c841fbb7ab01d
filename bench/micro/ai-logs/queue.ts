// Measures what a call's log entry costs from the edge to the file of SQLite, and to the spool of the export, in µs of CPU, writes included: node bench/micro/ai-logs/queue.ts
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as breathe, setTimeout as wait } from 'node:timers/promises'
import { AiMetrics } from '../../../src/metrics/counters/ai-metrics.ts'
import { createLogger } from '../../../src/log/log.ts'
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { PriceTable } from '../../../src/ai/usage/prices.ts'
import { usageOf } from '../../../src/ai/usage/usage.ts'
import type { LogExportConfig } from '../../../src/config/model/log-export-config.ts'
import { SpoolWriter } from '../../../src/log-export/spool-writer.ts'
import type { Capture } from '../../../src/ai-logs/capture.ts'
import { LogQueue } from '../../../src/ai-logs/queue.ts'
import { captured, gateway, observed } from '../../../test/ai-logs/observed.ts'

const rounds = 5
const exporting: Omit<LogExportConfig, 'payloads'> = {
  destination: { kind: 'file', path: '/nowhere', maxSize: 1, maxAge: 0, keep: 1 },
  delay: 5000,
  batchSize: 2 ** 20,
  maxDisk: 2 ** 30,
}
const calls = 100_000
/** Calls in one turn of the event loop, as under load. */
const turn = 16

const usage = { prompt_tokens: 43, completion_tokens: 57, total_tokens: 100 }
const request = sized(300, text => ({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: text }] }))
const response = sized(700, text => ({
  id: 'chatcmpl-1',
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
  usage,
}))

const folder = mkdtempSync(join(tmpdir(), 'bench-'))
const store = await SqliteStore.open(join(folder, 'logs.db'), { commandTimeout: 1000 })
/** With room for the entries of all rounds. */
const roomy = { ...gateway, logManagement: 10_000_000 }
await store.gateways.insert(roomy)
try {
  await measure('a chat of 300 and 700 bytes', true)
  await measure('the same, without its bodies', false)
  await measure('without, and exported', false, { ...exporting, payloads: false })
  await measure('with its bodies, and exported', true, { ...exporting, payloads: true })
} finally {
  await store.close()
  rmSync(folder, { recursive: true })
}

async function measure(
  name: string,
  keepsPayloads: boolean,
  exported: LogExportConfig | null = null,
): Promise<void> {
  const bare = await cost(() => {}, keepsPayloads)
  const costs: number[] = []
  for (let i = 0; i < rounds; i++) costs.push((await logged(keepsPayloads, exported)) - bare)
  const median = costs.sort((a, b) => a - b)[rounds >> 1]!
  console.log(`${name.padEnd(32)} ${median.toFixed(2)} µs (${costs.map(cost => cost.toFixed(2)).join(' ')})`)
}

async function logged(keepsPayloads: boolean, exported: LogExportConfig | null): Promise<number> {
  const metrics = new AiMetrics()
  const meter = { usageOf, costOf: new PriceTable([]).costOf.bind(new PriceTable([])) }
  const log = createLogger('error', { write: () => {} })
  const spool = new SpoolWriter({ folder: join(folder, 'spool'), config: exported, metrics, log })
  const queue = new LogQueue({ store, meter, metrics, log, spool })
  const sum = await cost(
    observation => queue.add(observation),
    keepsPayloads,
    async () => {
      await queue.close()
      await spool.close()
    },
  )
  const { written, dropped } = metrics.logEntries
  const lost = dropped.value + metrics.exportedEntries.dropped.value
  if (written.value !== calls || lost > 0) throw new Error(`${lost} were dropped`)
  return sum
}

/** Gives the CPU of a call in µs, what makes it up included. */
async function cost(
  add: (observation: ReturnType<typeof observed>) => void,
  keepsPayloads: boolean,
  end: () => Promise<void> = async () => {},
): Promise<number> {
  const before = process.cpuUsage()
  for (let i = 0; i < calls; i++) {
    add(call(i, keepsPayloads))
    if (i % turn === 0) await breathe()
    // As many as wait at most must not pile up.
    if (i % 2048 === 0) await wait(1)
  }
  await end()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}

function call(i: number, keepsPayloads: boolean): ReturnType<typeof observed> {
  return observed({
    gateway: roomy,
    startedAt: 1_767_225_600_000 + i / 10,
    duration: 1 + (i % 997) / 1000,
    timeToFirstByte: 1 + (i % 991) / 1000,
    keepsPayloads,
    request: keepsPayloads ? captureOf(request) : null,
    response: captureOf(response),
  })
}

function captureOf(body: Buffer): Capture {
  return captured(body)
}

function sized(length: number, make: (text: string) => object): Buffer {
  const rest = length - JSON.stringify(make('')).length
  return Buffer.from(JSON.stringify(make('x'.repeat(rest))))
}
