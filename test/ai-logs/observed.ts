// What the edge would have seen of a call, for tests of the log.

import { Capture } from '../../src/ai-logs/capture.ts'
import type { Observation } from '../../src/ai-logs/observation.ts'
import type { Gateway } from '../../src/store/records/records.ts'

export const gateway: Gateway = {
  account: '0123456789abcdef0123456789abcdef',
  id: 'default',
  authentication: true,
  collectLogs: true,
  logManagement: 1_000_000,
  logManagementStrategy: 'DELETE_OLDEST',
  createdAt: 0,
  modifiedAt: 0,
}

let last = 0

/** Makes the observation of a good chat call, but for the changes; each has a ray of its own. */
export function observed(changes: Partial<Observation> = {}): Observation {
  return {
    gateway,
    ray: (++last).toString(16).padStart(16, '0'),
    startedAt: Date.UTC(2026, 0, 1),
    provider: 'openai',
    model: null,
    path: '/v1/chat/completions',
    status: 200,
    error: null,
    isWhole: true,
    isReadToEnd: false,
    isAbandoned: false,
    duration: 12.3456,
    timeToFirstByte: 10,
    authenticated: true,
    token: { id: '0123456789abcdef0123456789abcdef', name: 'mine' },
    metadata: null,
    eventId: null,
    customCost: null,
    attempts: [],
    step: 0,
    requestContentType: 'application/json',
    responseContentType: 'application/json',
    requestEncoding: null,
    responseEncoding: null,
    keepsPayloads: true,
    request: captured('{"model":"gpt-4o","messages":[]}'),
    response: captured('{"usage":{}}'),
    session: null,
    relayed: null,
    dropped: [],
    findings: null,
    saved: null,
    isGuarded: false,
    isStored: true,
    budget: null,
    ...changes,
  }
}

/** Makes the capture of a body that came in one piece. */
export function captured(body: string | Buffer, isEncoded = false): Capture {
  const capture = new Capture({ isEncoded })
  capture.take(Buffer.from(body))
  return capture
}
