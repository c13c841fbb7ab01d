// Records and log entries for the tests of stores; what a test says of them replaces members.
import { randomBytes, randomFillSync } from 'node:crypto'
import type { AuthorizationEvent, AuthorizationStep } from '../../src/store/records/authorization-event.ts'
import type { Credential, CredentialKind, Json } from '../../src/store/records/credential.ts'
import type { ClientSecret, DomainVerification, OAuthClient } from '../../src/store/records/oauth-client.ts'
import type { CustomProvider } from '../../src/store/records/custom-provider.ts'
import type { ModelRoute } from '../../src/store/records/model-route.ts'
import { type BudgetAlertSet, budgetAlertSetId } from '../../src/store/records/budget-alerts.ts'
import { type Policy, type PolicySet, policySetId } from '../../src/store/records/policy.ts'
import type { OAuthGrant } from '../../src/store/records/oauth-grant.ts'
import {
  everybody,
  type Identity,
  type Member,
  type Passkey,
  type Passkeys,
  type Totp,
  type User,
} from '../../src/store/records/people.ts'
import type {
  Account,
  AuditEntry,
  Gateway,
  ProviderKey,
  StoredResponse,
  LogEntry,
  Token,
} from '../../src/store/records/records.ts'
import type { AuditQuery, Bootstrap, LogQuery } from '../../src/store/contract/store.ts'
import { type AcmeAccount, acmeOwner, type HostCertificate } from '../../src/store/records/acme.ts'
import type { SigningKey } from '../../src/store/records/signing-key.ts'
import { type TicketKey, ticketOwner } from '../../src/store/records/ticket-key.ts'
import { type TokenKey, tokenKeyId, tokenKeyOwner } from '../../src/store/records/token-key.ts'
import {
  type AccessRuleList,
  type ErrorPage,
  type ErrorRuleList,
  zoneOwner,
} from '../../src/store/records/zone-lists.ts'

const birth = Date.UTC(2026, 0, 1)

const chance = Buffer.alloc(8_192)
let used = chance.length

/** Makes so many random bytes, of which many at a time cost as much as one. */
export function hex(bytes: number): string {
  if (used + bytes > chance.length) {
    randomFillSync(chance)
    used = 0
  }
  return chance.toString('hex', used, (used += bytes))
}

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

export function providerKey(more: Partial<ProviderKey> = {}): ProviderKey {
  const fixed = { provider: 'openai', alias: 'main', isDefault: true, end: '6789', modifiedAt: birth }
  return { id: hex(16), sealed: `1.${hex(40)}`, ...fixed, ...more }
}

export function customProvider(more: Partial<CustomProvider> = {}): CustomProvider {
  return {
    account: hex(16),
    id: `own-${hex(4)}`,
    name: 'Own',
    url: 'https://llm.example/v1',
    isEnabled: true,
    headers: ['X-Team', 'a'],
    notes: { description: 'Ours' },
    createdAt: birth,
    modifiedAt: birth,
    ...more,
  }
}

export function modelRoute(more: Partial<ModelRoute> = {}): ModelRoute {
  const version = hex(16)
  return {
    account: `${hex(16)}/default`,
    id: hex(16),
    name: `Route ${hex(4)}`,
    versions: [
      {
        id: version,
        elements: [
          { id: 'begin', type: 'start', outputs: { next: { elementId: 'big' } } },
          {
            id: 'big',
            type: 'model',
            properties: { provider: 'openai', model: 'gpt-5', timeout: 20_000, retries: 1 },
            outputs: { success: { elementId: 'done' }, fallback: { elementId: 'done' } },
          },
          { id: 'done', type: 'end', outputs: {} },
        ],
        createdAt: birth,
      },
    ],
    deployments: [{ id: hex(16), version, createdAt: birth }],
    createdAt: birth,
    modifiedAt: birth,
    ...more,
  }
}

export function policySet(more: Partial<PolicySet> = {}): PolicySet {
  const limit = { type: 'limit', amount: 10, period: 'daily', technique: 'named-interval' } as const
  const policies: readonly Policy[] = [
    { id: hex(16), name: 'Everybody', actor: 'user:{svc.user.id}', resource: '*', action: limit },
  ]
  const commit = { id: hex(16), policies, createdAt: birth }
  return {
    account: `${hex(16)}/default`,
    id: policySetId,
    commits: [commit],
    draft: { base: commit.id, policies: [] },
    createdAt: birth,
    modifiedAt: birth,
    ...more,
  }
}

export function budgetAlertSet(more: Partial<BudgetAlertSet> = {}): BudgetAlertSet {
  const secrets = [{ sealed: 'sealed', endsAt: null }]
  const url = 'https://hooks.example.com/budgets'
  return {
    account: `${hex(16)}/default`,
    id: budgetAlertSetId,
    alerts: [{ id: hex(16), url, thresholds: [80, 100], secrets, createdAt: birth }],
    deliveries: [],
    createdAt: birth,
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
    gateways: ['default', 'team-*'],
    models: ['openai/*', 'ünïcode'],
    issuedOn: birth,
    modifiedOn: birth,
    ...more,
  }
}

export function oauthClient(more: Partial<OAuthClient> = {}): OAuthClient {
  return {
    account: hex(16),
    id: hex(16),
    name: 'Ünïcode 🗝 “client”',
    grantTypes: ['authorization_code', 'refresh_token'],
    responseTypes: ['code'],
    tokenEndpointAuthMethod: 'client_secret_basic',
    redirectUris: ['https://app.example.com/back?a=1&b=%20', 'http://127.0.0.1:8000/back'],
    postLogoutRedirectUris: [],
    allowedCorsOrigins: ['https://app.example.com'],
    scopes: ['oauth_clients.read', 'offline_access'],
    optionalScopes: [],
    logoUri: 'https://app.example.com/logo.png',
    policyUri: null,
    tosUri: null,
    clientUri: 'https://app.example.com/',
    visibility: 'private',
    secrets: [clientSecret(), clientSecret({ lastUsedAt: birth + 3_600_000 })],
    verification: verification(),
    revision: 1,
    createdAt: birth,
    updatedAt: birth,
    promotedAt: null,
    ...more,
  }
}

export function clientSecret(more: Partial<ClientSecret> = {}): ClientSecret {
  return { digest: hex(32), key: hex(4), tail: 'aZ-_', createdAt: birth, lastUsedAt: null, ...more }
}

/** One that is over, unless `nextCheckAt` says when to ask again. */
export function verification(more: Partial<DomainVerification> = {}): DomainVerification {
  return {
    host: 'app.example.com',
    code: hex(16),
    status: 'in_progress',
    startedAt: birth,
    deadline: birth + 172_800_000,
    nextCheckAt: null,
    checks: 2,
    lastAnswer: { at: birth + 15_000, outcome: 'no_match', records: ['v=spf1 -all', 'quo"te \\ ünïcode'] },
    verifiedAt: null,
    ...more,
  }
}

export function user(more: Partial<User> = {}): User {
  return {
    account: everybody,
    id: hex(16),
    email: `${hex(8)}@people.example`,
    firstName: 'Zoë',
    lastName: null,
    password: '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA',
    identity: null,
    totp: null,
    passwordChangedAt: birth,
    createdAt: birth,
    modifiedAt: birth,
    ...more,
  }
}

export function identity(more: Partial<Identity> = {}): Identity {
  return { issuer: 'https://id.example/realm', subject: hex(8), ...more }
}

export function totp(more: Partial<Totp> = {}): Totp {
  return { sealed: 'c2VhbGVk-_', lastStep: 0, recoveryCodes: [hex(32), hex(32)], confirmedAt: null, ...more }
}

export function passkeys(): Passkeys {
  return { keys: [passkey()], challengedAt: birth + 1 }
}

export function passkey(more: Partial<Passkey> = {}): Passkey {
  const times = { createdAt: birth, usedAt: birth + 1 }
  const of = { host: 'id.example', transports: ['internal'], name: 'Zoë’s key', counter: 4_294_967_295 }
  return { id: hex(32), publicKey: 'pQECAyYg-_', ...of, ...times, ...more }
}

export function member(more: Partial<Member> = {}): Member {
  return {
    account: hex(16),
    id: hex(16),
    user: hex(16),
    status: 'accepted',
    roles: [hex(16)],
    isSuper: false,
    createdAt: birth,
    modifiedAt: birth,
    ...more,
  }
}

/** One that lasts for an hour from now. */
export function credential(kind: CredentialKind, more: Partial<Credential> = {}): Credential {
  const data: Json = { scopes: ['ai.run'], nonce: 'Ünïcode 🗝 “nonce”', nested: [null, 1.5, true] }
  return {
    kind,
    digest: hex(32),
    user: hex(16),
    client: hex(16),
    grant: hex(16),
    data,
    createdAt: Date.now(),
    expiresAt: Date.now() + 3_600_000,
    consumedAt: null,
    ...more,
  }
}

export function oauthGrant(more: Partial<OAuthGrant> = {}): OAuthGrant {
  return {
    account: hex(16),
    id: hex(16),
    user: hex(16),
    client: hex(16),
    clientAccount: hex(16),
    scopes: ['ai.run', 'offline_access'],
    declined: ['user.read'],
    resource: ['https://gateway.example/client/v4'],
    redirectHosts: ['app.example'],
    createdAt: birth,
    updatedAt: birth,
    ...more,
  }
}

export function authorizationEvent(more: Partial<AuthorizationEvent> = {}): AuthorizationEvent {
  const step: AuthorizationStep = 'token'
  return {
    id: hex(16),
    client: hex(16),
    clientAccount: hex(16),
    at: Date.now(),
    step,
    result: 'failure',
    error: 'invalid_grant',
    reason: 'PKCE verifier does not match “Ünïcode”',
    user: hex(16),
    account: null,
    address: '2001:db8::7',
    ray: hex(8),
    isUnproven: false,
    ...more,
  }
}

export function signingKey(more: Partial<SigningKey> = {}): SigningKey {
  return {
    account: 'oauth',
    id: hex(16),
    publicKey: { kty: 'EC', crv: 'P-256', x: 'eA-_', y: 'eQ-_', alg: 'ES256', use: 'sig' },
    sealed: 'c2VhbGVk-_',
    createdAt: birth,
    ...more,
  }
}

export function acmeAccount(more: Partial<AcmeAccount> = {}): AcmeAccount {
  return {
    account: acmeOwner,
    id: hex(32),
    directory: 'https://acme.example/directory',
    createdAt: birth,
    sealedKey: 'c2VhbGVk-_',
    url: 'https://acme.example/account/1',
    email: 'ops@shop.example',
    restUntil: null,
    failures: 0,
    ...more,
  }
}

export function hostCertificate(more: Partial<HostCertificate> = {}): HostCertificate {
  const directory = 'https://acme.example/directory'
  return {
    account: acmeOwner,
    id: `${hex(8)}.example`,
    createdAt: birth,
    issued: { directory, chain: 'a chain', sealedKey: 'c2VhbGVk-_', issuedAt: birth },
    order: {
      directory,
      url: 'https://acme.example/order/1',
      sealedKey: 'c2VhbGVk-_',
      startedAt: birth,
      challenge: { type: 'http-01', token: hex(8), keyAuthorization: hex(16), validation: null },
    },
    renewal: { at: birth + 1, askAt: birth, window: { start: birth, end: birth + 2 } },
    failures: 1,
    restUntil: birth,
    lastError: { at: birth, message: 'Ünïcode' },
    requestedAt: null,
    lease: { holder: hex(8), beat: 1 },
    ...more,
  }
}

export function ticketKey(more: Partial<TicketKey> = {}): TicketKey {
  return {
    account: ticketOwner,
    id: hex(16),
    startsAt: birth,
    sealed: 'c2VhbGVk-_',
    createdAt: birth,
    ...more,
  }
}

export function tokenKey(more: Partial<TokenKey> = {}): TokenKey {
  return {
    account: tokenKeyOwner,
    id: tokenKeyId,
    key: randomBytes(32).toString('base64url'),
    untagged: [hex(8), hex(8)],
    createdAt: birth,
    ...more,
  }
}

export function errorRuleList(more: Partial<ErrorRuleList> = {}): ErrorRuleList {
  const rule = {
    id: hex(16),
    expression: 'response.code == 522',
    content: '{"why": "Ünïcode 🗝 ::RAY_ID::"}\n',
    contentType: 'application/json',
    status: 503,
    description: null,
  } as const
  const rules = [rule, { ...rule, id: hex(16), status: null, description: 'For all others' }]
  return { account: zoneOwner, id: 'shop.example', rules, createdAt: birth, modifiedAt: birth, ...more }
}

export function accessRuleList(more: Partial<AccessRuleList> = {}): AccessRuleList {
  const networks = ['192.0.2.0/24', '2001:db8::7']
  const rules = [
    { id: hex(16), action: 'allow', condition: { kind: 'ip', networks }, description: null },
    { id: hex(16), action: 'deny', condition: { kind: 'asn', numbers: [64_496] }, description: 'Ünïcode' },
  ] as const
  return { account: zoneOwner, id: 'shop.example', rules, createdAt: birth, modifiedAt: birth, ...more }
}

export function errorPage(more: Partial<ErrorPage> = {}): ErrorPage {
  const { zone, type } = { zone: 'shop.example', type: '500_errors', ...more } as const
  return {
    account: zoneOwner,
    id: `${zone}/${type}`,
    zone,
    type,
    html: '<!doctype html>\n<title>Ünïcode 🗝</title> {::SVC_ERROR_500S_BOX::}',
    createdAt: birth,
    modifiedAt: birth,
    ...more,
  }
}

export function auditEntry(more: Partial<AuditEntry> = {}): AuditEntry {
  return {
    id: hex(16),
    account: hex(16),
    at: birth,
    actor: hex(16),
    address: '2001:db8::7',
    ray: hex(8),
    action: 'update',
    resourceKind: 'oauth_client',
    resource: hex(16),
    changed: ['client_name', 'redirect_uris'],
    ...more,
  }
}

export function auditQuery(more: Partial<AuditQuery> = {}): AuditQuery {
  return { since: null, before: null, descending: false, offset: 0, limit: 100, ...more }
}

/** One that lasts for a day from now. */
export function storedResponse(more: Partial<StoredResponse> = {}): StoredResponse {
  return {
    account: hex(16),
    key: hex(32),
    fingerprint: hex(32),
    sealed: 'c2VhbGVk-_',
    expiresAt: Date.now() + 86_400_000,
    ...more,
  }
}

export function firstStart(): Bootstrap {
  const owner = account()
  const [first, opening] = [gateway({ account: owner.id }), token({ account: owner.id })]
  return { account: owner, gateway: first, token: opening, tokenKey: tokenKey() }
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
    tokenId: '89abcdef0123456789abcdef01234567',
    tokenName: 'laptop “7”',
    streamed: false,
    metadata: { user: 'u-1', team: 'Blue', trial: false, age: 4.5, note: null },
    requestContentType: 'application/json',
    responseContentType: 'application/json',
    request: { text: '{"model":"gpt-5-mini"}', isCut: false },
    response: { text: '{"choices":[]}', isCut: true },
    providerResponse: null,
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
