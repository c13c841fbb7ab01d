import { deepEqual, equal } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { createLogger } from '../../src/log/log.ts'
import { LogExport } from '../../src/log-export/log-export.ts'
import { SpoolWriter } from '../../src/log-export/spool-writer.ts'
import { AiMetrics } from '../../src/metrics/counters/ai-metrics.ts'
import { batchOf } from '../../src/store/log-batch/batch.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { until } from '../help/until.ts'
import { account, batch, config, entry } from './exported.ts'

test('the largest batch of bodies that grow most when they are escaped leaves the process alive', async t => {
  const folder = quickFolder(t, 'export')
  const destination = {
    kind: 'file',
    path: join(folder, 'out'),
    maxSize: 2 ** 40,
    maxAge: 0,
    keep: 2,
  } as const
  const changes = { destination, payloads: true, batchSize: 2 ** 24, maxDisk: 2 ** 30 }
  const metrics = new AiMetrics()
  const log = createLogger('error', { write: () => {} })
  const parts = { folder: join(folder, 'spool'), config: config(changes), metrics, log }
  const writer = new SpoolWriter({ ...parts, maxBytes: 2 ** 30 })
  const body = { text: `界${'\u0001'.repeat(65_000)}`, isCut: false }
  const bodies = { request: body, response: body, providerResponse: body }
  for (let i = 0; i < 90; i++) writer.take(account, 'default', batchOf([entry(bodies)]))
  await writer.close()
  const logExport = new LogExport(parts.config, parts)
  t.after(() => logExport.close())
  await until(() => metrics.exportedEntries.sent.value === 90, 120_000)
  equal(metrics.exportedEntries.dropped.value, 0)
})

test('a reload that changes nothing of the export cuts no batch off', async t => {
  const arrivals: ServerResponse[] = []
  const left: boolean[] = []
  const server = createServer((request, response) => {
    arrivals.push(response)
    response.on('close', () => left.push(!response.writableFinished))
    request.resume()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.closeAllConnections() ?? server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const rest = { headers: [], secrets: [], ca: null, timeout: 30_000 }
  const now = () => config({ destination: { kind: 'https', url, ...rest } })
  const metrics = new AiMetrics()
  const log = createLogger('error', { write: () => {} })
  const parts = { folder: join(quickFolder(t, 'export'), 'spool'), config: now(), metrics, log }
  const writer = new SpoolWriter(parts)
  writer.take(account, 'default', batch('1'))
  await writer.close()
  const logExport = new LogExport(parts.config, parts)
  t.after(() => logExport.close())
  await until(() => arrivals.length === 1)
  logExport.reload(now())
  // By its second report, the thread has read what was sent to it.
  const before = logExport.state!.waiting
  await until(() => logExport.state!.waiting !== before)
  const then = logExport.state!.waiting
  await until(() => logExport.state!.waiting !== then)
  arrivals[0]!.end()
  await until(() => metrics.exportedEntries.sent.value === 1)
  deepEqual([arrivals.length, left], [1, [false]])
})
