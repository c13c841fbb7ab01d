// Batches and configurations for tests of the export.

import type { LogExportConfig } from '../../src/config/model/log-export-config.ts'
import { batchOf, type LogBatch } from '../../src/store/log-batch/batch.ts'
import type { LogEntry } from '../../src/store/records/records.ts'

export const account = '0123456789abcdef0123456789abcdef'

export function config(changes: Partial<LogExportConfig> = {}): LogExportConfig {
  return {
    destination: { kind: 'file', path: '/nowhere', maxSize: 2 ** 20, maxAge: 0, keep: 2 },
    payloads: false,
    delay: 100,
    batchSize: 2 ** 16,
    maxDisk: 2 ** 24,
    ...changes,
  }
}

/** Makes a batch of entries with these ids. */
export function batch(...ids: string[]): LogBatch {
  return batchOf(ids.map(id => entry({ id })))
}

export function entry(changes: Partial<LogEntry> = {}): LogEntry {
  return {
    id: '0000000000000001',
    account,
    gateway: 'default',
    createdAt: Date.UTC(2026, 0, 1),
    provider: 'openai',
    model: 'gpt-4o',
    path: '/v1/chat/completions',
    status: 200,
    success: true,
    error: null,
    duration: 12.3,
    timeToFirstByte: 10,
    tokensIn: 43,
    tokensOut: 57,
    cost: 0.0001,
    cached: false,
    authenticated: true,
    tokenId: 'fedcba9876543210fedcba9876543210',
    tokenName: 'mine',
    streamed: false,
    metadata: null,
    requestContentType: 'application/json',
    responseContentType: 'application/json',
    request: { text: 'question: größer?', isCut: false },
    response: null,
    providerResponse: null,
    ...changes,
  }
}
