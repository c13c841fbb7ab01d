import { equal } from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { createLogger } from '../../src/log/log.ts'
import { LogExport } from '../../src/log-export/log-export.ts'
import { SpoolWriter } from '../../src/log-export/spool-writer.ts'
import { AiMetrics } from '../../src/metrics/counters/ai-metrics.ts'
import { batchOf } from '../../src/store/log-batch/batch.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { until } from '../help/until.ts'
import { account, config, entry } from './exported.ts'

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
  await until(() => metrics.exportedEntries.sent.value === 90, 30_000)
  equal(metrics.exportedEntries.dropped.value, 0)
})
