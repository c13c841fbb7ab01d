// The promises of a store about what is written with a record: all of it or nothing, for every kind of record.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Records, Store } from '../../src/store/contract/store.ts'
import type { Place } from './contract.ts'
import {
  accessRuleList,
  auditEntry,
  auditQuery,
  errorPage,
  errorRuleList,
  gateway,
  storedResponse,
  member,
  oauthClient,
  oauthGrant,
  signingKey,
  ticketKey,
  tokenKey,
  token,
  user,
  acmeAccount,
  hostCertificate,
} from './contract-specimens.ts'

type Kept = { readonly account: string; readonly id: string }

const all = auditQuery()

/** What each kind has: its records, one of them, and the same one changed. */
const kinds: Readonly<
  Record<string, (store: Store) => { records: Records<Kept>; kept: Kept; changed: Kept }>
> = {
  gateway: ({ gateways }) => kindOf(gateways, gateway(), { collectLogs: false }),
  token: ({ tokens }) => kindOf(tokens, token(), { name: 'Changed' }),
  'OAuth client': ({ oauthClients }) => kindOf(oauthClients, oauthClient(), { name: 'Changed' }),
  user: ({ users }) => kindOf(users, user(), { firstName: 'Changed' }),
  member: ({ members }) => kindOf(members, member(), { roles: [] }),
  'OAuth grant': ({ oauthGrants }) => kindOf(oauthGrants, oauthGrant(), { scopes: [] }),
  'signing key': ({ signingKeys }) => kindOf(signingKeys, signingKey(), { sealed: 'Changed' }),
  'ACME account': ({ acmeAccounts }) => kindOf(acmeAccounts, acmeAccount(), { url: null }),
  certificate: ({ certificates }) => kindOf(certificates, hostCertificate(), { order: null }),
  'ticket key': ({ ticketKeys }) => kindOf(ticketKeys, ticketKey(), { sealed: 'Changed' }),
  'token key': ({ tokenKeys }) => kindOf(tokenKeys, tokenKey(), { untagged: ['0'] }),
  'list of error rules': ({ errorRules }) => kindOf(errorRules, errorRuleList(), { rules: [] }),
  'list of access rules': ({ accessRules }) => kindOf(accessRules, accessRuleList(), { rules: [] }),
  'error page': ({ errorPages }) => kindOf(errorPages, errorPage(), { html: 'Changed' }),
}

export function togetherContract(name: string, place: Place): void {
  for (const [kind, of] of Object.entries(kinds)) {
    test(`${name}: what is written with a ${kind} is there with it`, async t => {
      const open = await place(t)
      const [store, other] = await Promise.all([open(), open()])
      const { records, kept, changed } = of(store)
      const { account, id } = kept
      const together = Array.from({ length: 3 }, (_, at) => ({
        audit: auditEntry({ account, resource: id, at }),
        response: storedResponse({ account }),
      }))
      assert.equal(await records.insert(kept, together[0]), true)
      const { version } = (await records.get(account, id))!
      assert.equal(await records.replace(changed, version, together[1]), true)
      assert.deepEqual((await records.get(account, id))?.record, changed)
      assert.equal(await records.remove(account, id, together[2]), true)
      assert.equal(await records.get(account, id), null)
      for (const { response } of together)
        assert.deepEqual(await other.responses.get(account, response.key), response)
      const items = together.map(({ audit }) => audit)
      assert.deepEqual(await other.audit.list(account, all), { items, total: 3 })
    })

    test(`${name}: nothing is written with a ${kind} that is refused`, async t => {
      const store = await (await place(t))()
      const { records, kept, changed } = of(store)
      const { account, id } = kept
      const together = { audit: auditEntry({ account }), response: storedResponse({ account }) }
      assert.equal(await records.replace(changed, 1, together), false)
      assert.equal(await records.remove(account, id, together), false)
      await records.insert(kept)
      const { version } = (await records.get(account, id))!
      assert.equal(await records.insert(changed, together), false)
      await records.replace(changed, version)
      assert.equal(await records.replace(kept, version, together), false)
      assert.deepEqual(await store.audit.list(account, all), { items: [], total: 0 })
      assert.equal(await store.responses.get(account, together.response.key), null)
    })

    test(`${name}: where the key of the response is taken, neither a ${kind} nor its audit entry is written`, async t => {
      const store = await (await place(t))()
      const { records, kept, changed } = of(store)
      const { account, id } = kept
      const response = storedResponse({ account })
      const late = {
        audit: auditEntry({ account }),
        response: { ...storedResponse({ account }), key: response.key },
      }
      await records.insert(kept, { response })
      const before = (await records.get(account, id))!
      assert.equal(await records.insert({ ...kept, id: 'another' }, late), false)
      assert.equal(await records.get(account, 'another'), null)
      assert.equal(await records.replace(changed, before.version, late), false)
      assert.deepEqual(await records.get(account, id), before)
      assert.deepEqual(await store.audit.list(account, all), { items: [], total: 0 })
      assert.deepEqual(await store.responses.get(account, response.key), response)
    })
  }
}

function kindOf<T extends Kept>(records: Records<T>, kept: T, change: Partial<T>) {
  return { records: records as unknown as Records<Kept>, kept, changed: { ...kept, ...change } }
}
