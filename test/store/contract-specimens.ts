// Records and log entries for the tests of stores; what a test says of them replaces members.
import { randomBytes } from 'node:crypto'
import type { Account, Gateway, LogEntry, Token } from '../../src/store/records.ts'
import type { Bootstrap, LogQuery } from '../../src/store/store.ts'

const birth = Date.UTC(2026, 0, 1)

export const hex = (bytes: number): string => randomBytes(bytes).toString('hex')

export function account(more: Partial<Account> = {}): Account {
  return { id: hex(16), name: 'Main account', createdAt: birth, ...more }
}

export function gateway(more: Partial<Gateway> = {}): Gateway {
  return {
    account: hex(16),
    id: 'default',
    authentication: true,
    collectLogs: true,
    logManagement: 100_000,
    logManagementStrategy: 'DELETE_OLDEST',
    createdAt: birth,
    modifiedAt: birth,
    ...more,
  }
}

export function token(more: Partial<Token> = {}): Token {
  return {
    account: hex(16),
    id: hex(16),
    name: 'Ünïcode 🗝 “token”',
    digest: hex(32),
    status: 'active',
    policies: [{ id: hex(16), effect: 'allow', permissionGroups: [hex(16), hex(16)], accounts: ['*'] }],
    notBefore: null,
    expiresOn: birth + 86_400_000,
    addressesIn: ['192.0.2.0/24', '2001:db8::/32'],
    addressesNotIn: [],
    issuedOn: birth,
    modifiedOn: birth,
    ...more,
  }
}

export function firstStart(): Bootstrap {
  const owner = account()
  return { account: owner, gateway: gateway({ account: owner.id }), token: token({ account: owner.id }) }
}

export function logEntry(more: Partial<LogEntry> = {}): LogEntry {
  return {
    id: hex(8),
    account: '',
    gateway: 'default',
    createdAt: birth,
    provider: 'openai',
    model: 'gpt-5-mini',
    path: '/v1/chat/completions',
    status: 200,
    success: true,
    error: null,
    duration: 812.4,
    timeToFirstByte: 201.25,
    tokensIn: 212,
    tokensOut: 80,
    cost: 0.000213,
    cached: false,
    authenticated: true,
    streamed: false,
    metadata: { user: 'u-1', team: 'Blue', trial: false, age: 4.5, note: null },
    requestContentType: 'application/json',
    responseContentType: 'application/json',
    request: { text: '{"model":"gpt-5-mini"}', isCut: false },
    response: { text: '{"choices":[]}', isCut: true },
    ...more,
  }
}

/** Makes entries of one gateway, each a second after the one before. */
export function logEntries(
  { account, id }: Gateway,
  count: number,
  more: (index: number) => Partial<LogEntry> = () => ({}),
): LogEntry[] {
  return Array.from({ length: count }, (_, i) =>
    logEntry({ account, gateway: id, createdAt: birth + i * 1000, ...more(i) }),
  )
}

export function logQuery(more: Partial<LogQuery> = {}): LogQuery {
  return { filters: [], orderBy: 'created_at', descending: false, offset: 0, limit: 100, ...more }
}
