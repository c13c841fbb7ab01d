// Opens stores in Redis that are closed when the test ends, and knows each of their methods.
import type { TestContext } from 'node:test'
import type { Clock } from '../../../src/base/clock.ts'
import { batchOf } from '../../../src/store/log-batch/batch.ts'
import { RedisStore } from '../../../src/store/redis/redis-store.ts'
import type { Store } from '../../../src/store/contract/store.ts'
import { boundsWithin, owned } from '../answer-bounds.ts'
import { zoneOwner } from '../../../src/store/records/zone-lists.ts'
import {
  accessRuleList,
  account,
  auditEntry,
  auditQuery,
  authorizationEvent,
  credential,
  errorPage,
  errorRuleList,
  firstStart,
  gateway,
  identity,
  storedResponse,
  logEntries,
  logQuery,
  member,
  oauthClient,
  oauthGrant,
  signingKey,
  acmeAccount,
  hostCertificate,
  ticketKey,
  tokenKey,
  token,
  user,
} from '../contract-specimens.ts'

/** The usual time until a command is called lost, in ms: longer than a busy machine keeps anybody waiting. */
export const commandTimeout = 4_000

export async function openRedis(
  t: TestContext,
  url: string,
  timeout = commandTimeout,
  clock?: Clock,
): Promise<RedisStore> {
  const store = await RedisStore.open(url, { commandTimeout: timeout, ...(clock && { clock }) })
  t.after(() => store.close())
  return store
}

const kept = gateway()
const owner = kept.account
const limit = { maxEntries: 10, strategy: 'DELETE_OLDEST' } as const
const person = member({ isSuper: false })
const opening = credential('refresh_token')
const [granted, happened] = [oauthGrant(), authorizationEvent()]
const page = { offset: 0, limit: 10 }
const budgetEnd = 4_000_000_000_000
const answerPlace = { account: owner, gateway: kept.id, key: 'k' }
const answerBounds = boundsWithin({ bytes: 100, entries: 10 }, 10)
const claimAsk = {
  ...{ ...answerPlace, fingerprint: 'f', holder: 'h', lease: 1, expiresAt: budgetEnd, note: '' },
  ...owned,
}
const budget = {
  ...{ bucket: 'b', window: { kind: 'fixed', until: budgetEnd } as const, limit: 9, share: 'p.0' },
  ...{ total: 1, confirmed: 0, keep: 1, ifLost: 1, need: 1, want: 1 },
}

/** Everything that can be asked of a store, but its end. */
export const methods: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  'accounts.get': store => store.accounts.get(owner),
  'accounts.list': store => store.accounts.list(),
  'accounts.insert': store => store.accounts.insert(account()),
  'accounts.insert, with what it begins with': store =>
    store.accounts.insert(account(), { gateway: gateway(), audit: auditEntry() }),
  'accounts.update': store => store.accounts.update(owner, { name: 'Changed' }, { audit: auditEntry() }),
  'users.insert': store => store.users.insert(user()),
  'users.findByEmail': store => store.users.findByEmail('nobody@people.example'),
  'users.withIds': store => store.users.withIds([person.user]),
  'users.findByIdentity': store => store.users.findByIdentity(identity()),
  'members.insert': store => store.members.insert(person),
  'members.find': store => store.members.find(person.account, person.user),
  'members.ofUser': store => store.members.ofUser(person.user),
  'members.remove': store => store.members.remove(person.account, person.id),
  'credentials.get': async store => store.credentials.get('session', '0'.repeat(64)),
  'credentials.put': store => store.credentials.put(credential('session')),
  'credentials.putAll': store => store.credentials.putAll([credential('access_token'), opening]),
  'credentials.consume': store => store.credentials.consume('refresh_token', opening.digest, 1),
  'credentials.exchange': store =>
    store.credentials.exchange({
      ...{ kind: 'refresh_token', digest: opening.digest, at: 1, grace: 1 },
      ...{ issued: [credential('access_token')], end: credential('ended_family') },
    }),
  'credentials.endFamily': store => store.credentials.endFamily(credential('ended_family')),
  'credentials.hasEnded': store => store.credentials.hasEnded(opening.digest),
  'credentials.list': store => store.credentials.list({ user: opening.user! }, 'refresh_token', 10),
  'credentials.remove': store => store.credentials.remove('refresh_token', opening.digest),
  'credentials.removeOf': store => store.credentials.removeOf({ user: opening.user! }),
  'oauthGrants.insert': store => store.oauthGrants.insert(granted, { audit: auditEntry() }),
  'oauthGrants.find': store => store.oauthGrants.find(granted),
  'oauthGrants.ofUser': store => store.oauthGrants.ofUser(granted.user, page),
  'oauthGrants.ofClient': store => store.oauthGrants.ofClient(granted.client, page),
  'oauthGrants.count': store => store.oauthGrants.count(),
  'oauthGrants.remove': store => store.oauthGrants.remove(granted.account, granted.id),
  'authorizationEvents.append': store => store.authorizationEvents.append(happened),
  'authorizationEvents.list': store => store.authorizationEvents.list(owner, happened.client),
  'authorizationEvents.removeOf': store => store.authorizationEvents.removeOf(happened.client),
  'signingKeys.insert': store => store.signingKeys.insert(signingKey()),
  'acmeAccounts.insert': store => store.acmeAccounts.insert(acmeAccount()),
  'certificates.insert': store => store.certificates.insert(hostCertificate()),
  'ticketKeys.insert': store => store.ticketKeys.insert(ticketKey()),
  'tokenKeys.insert': store => store.tokenKeys.insert(tokenKey()),
  'gateways.get': store => store.gateways.get(owner, kept.id),
  'gateways.list': store => store.gateways.list(owner, page),
  'gateways.insert': store => store.gateways.insert(gateway()),
  'gateways.replace': store => store.gateways.replace(kept, 1),
  'gateways.remove': store => store.gateways.remove(owner, kept.id),
  'tokens.findByDigest': async store => store.tokens.findByDigest('0'.repeat(64)),
  'tokens.insert': store => store.tokens.insert(token()),
  'oauthClients.get': store => store.oauthClients.get(owner, '0'),
  'oauthClients.find': store => store.oauthClients.find('0'),
  'oauthClients.list': store => store.oauthClients.list(owner, page),
  'oauthClients.insert': store =>
    store.oauthClients.insert(oauthClient(), { audit: auditEntry(), response: storedResponse() }),
  'oauthClients.replace': store => store.oauthClients.replace(oauthClient(), 1),
  'oauthClients.remove': store => store.oauthClients.remove(owner, '0', { audit: auditEntry() }),
  'oauthClients.claimDue': store => store.oauthClients.claimDue(10, 60_000),
  'errorRules.get': store => store.errorRules.get(zoneOwner, 'shop.example'),
  'errorRules.insert': store => store.errorRules.insert(errorRuleList()),
  'accessRules.list': store => store.accessRules.list(zoneOwner, page),
  'accessRules.replace': store => store.accessRules.replace(accessRuleList(), 1),
  'errorPages.get': store => store.errorPages.get(zoneOwner, 'shop.example/500_errors'),
  'errorPages.list': store => store.errorPages.list(zoneOwner, page),
  'errorPages.insert': store => store.errorPages.insert(errorPage()),
  'errorPages.remove': store => store.errorPages.remove(zoneOwner, 'shop.example/500_errors'),
  'responses.get': store => store.responses.get(owner, '0'),
  'counters.spend': store =>
    store.counters.spend({
      key: '0',
      window: { kind: 'sliding', period: 60_000 },
      limit: 1,
      done: 0,
      wanted: 1,
    }),
  'budgets.step': store => store.budgets.step({ account: owner, sequence: 1, lease: 1, lines: [budget] }),
  'budgets.read': store => store.budgets.read(owner, [budget]),
  'budgets.reset': store => store.budgets.reset(owner, budget),
  'budgets.entries': store => Array.fromAsync(store.budgets.entries(owner)),
  'answers.read': store => store.answers.read(answerPlace),
  'answers.write': store => store.answers.write(answerPlace, Buffer.from('1'), budgetEnd, answerBounds),
  'answers.remove': store => store.answers.remove(answerPlace),
  'answers.eraseGateway': store => store.answers.eraseGateway(owner, kept.id),
  'answers.eraseAccount': store => store.answers.eraseAccount(owner),
  'answers.sum': store => store.answers.sum(owner),
  'answers.total': store => store.answers.total(),
  'answers.sweep': store => store.answers.sweep(1),
  'claims.claim': store => store.claims.claim(claimAsk),
  'claims.look': store => store.claims.look(claimAsk),
  'claims.renew': store => store.claims.renew(claimAsk, claimAsk.holder, 1),
  'claims.settle': store => store.claims.settle(claimAsk, claimAsk.holder, ''),
  'claims.release': store => store.claims.release(claimAsk, claimAsk.holder),
  'budgets.restore': store =>
    store.budgets.restore(owner, [{ bucket: 'b', endsAt: budgetEnd, slots: [[0, 1]], shares: {} }]),
  'audit.list': store => store.audit.list(owner, auditQuery()),
  'audit.append': store => store.audit.append(auditEntry()),
  'logs.append': store => store.logs.append(owner, kept.id, batchOf(logEntries(kept, 2)), limit),
  'logs.list': store => store.logs.list(owner, kept.id, logQuery()),
  'logs.get': store => store.logs.get(owner, kept.id, '0'),
  'logs.remove': store => store.logs.remove(owner, kept.id, logQuery()),
  'logs.count': store => store.logs.count(owner, kept.id),
  'logs.scan': store =>
    store.logs.scan(owner, kept.id, { filters: [], descending: true, limit: 1, maxScanned: 1 }),
  'logs.sum': store =>
    store.logs.sum(owner, kept.id, {
      time: { since: 0, before: 1 },
      filters: [],
      by: [],
      width: null,
      maxGroups: 1,
    }),
  'logs.marks': store => store.logs.marks(owner, kept.id, { since: 0, width: 60_000, count: 2 }),
  'logs.tail': store => store.logs.tail(owner, kept.id, null, 10),
  'logs.entries': store => Array.fromAsync(store.logs.entries(owner, kept.id)),
  'peers.exchange': async store => store.peers!.exchange('one', '', 1_000),
  bootstrap: store => store.bootstrap(firstStart()),
  durability: store => store.durability(),
  size: store => store.size(),
}
