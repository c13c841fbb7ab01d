// Makes entries of AI calls for tests, and keeps them under the gateway `default`.

import { batchOf } from '../../../src/store/log-batch/batch.ts'
import type { LogEntry } from '../../../src/store/records/records.ts'
import type { Store } from '../../../src/store/contract/store.ts'
import { account } from '../../tokens/token-with.ts'

/** Makes the entry of a call in the second `n` of 2026. */
export function entryWith(n: number, members: Partial<LogEntry> = {}): LogEntry {
  return {
    id: n.toString(16).padStart(16, '0'),
    account,
    gateway: 'default',
    createdAt: Date.UTC(2026, 0, 1, 0, 0, n),
    provider: 'openai',
    model: 'gpt-5',
    path: '/v1/chat/completions',
    status: 200,
    success: true,
    error: null,
    duration: 12,
    timeToFirstByte: 3,
    tokensIn: 10,
    tokensOut: 20,
    cost: null,
    cached: false,
    authenticated: true,
    tokenId: null,
    tokenName: null,
    streamed: false,
    metadata: null,
    requestContentType: 'application/json',
    responseContentType: 'application/json',
    request: null,
    response: null,
    providerResponse: null,
    ...members,
  }
}

export async function keepEntries(
  { logs }: Store,
  entries: readonly LogEntry[],
  gateway = 'default',
): Promise<void> {
  await logs.append(account, gateway, batchOf(entries), { maxEntries: 1_000, strategy: 'DELETE_OLDEST' })
}
