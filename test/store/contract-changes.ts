// The promises of a store about telling what changed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change, Store } from '../../src/store/contract/store.ts'
import { busySecond, until } from '../help/until.ts'
import type { Place } from './contract.ts'
import {
  accessRuleList,
  account,
  credential,
  customProvider,
  errorPage,
  errorRuleList,
  firstStart,
  gateway,
  member,
  oauthClient,
  oauthGrant,
  signingKey,
  hostCertificate,
  tokenKey,
  token,
  user,
} from './contract-specimens.ts'

type Told = Extract<Change, { account: string }>

export function changesContract(name: string, place: Place): void {
  test(`${name}: every write of a record is reported, in every handle, within a second`, async t => {
    const open = await place(t)
    const [own, other] = await Promise.all([open(), open()])
    const kept = { gateway: gateway(), token: token(), client: oauthClient() }
    await writeAndHear(own, other, { kind: 'gateway', ...kept.gateway }, async () => {
      await own.gateways.insert(kept.gateway)
    })
    await writeAndHear(own, other, { kind: 'token', ...kept.token }, async () => {
      await own.tokens.insert(kept.token)
    })
    const added = customProvider()
    await writeAndHear(own, other, { kind: 'custom_provider', ...added }, async () => {
      await own.customProviders.insert(added)
    })
    await writeAndHear(own, other, { kind: 'custom_provider', ...added }, async () => {
      await own.customProviders.remove(added.account, added.id)
    })
    await writeAndHear(own, other, { kind: 'gateway', ...kept.gateway }, async () => {
      const { version } = (await own.gateways.get(kept.gateway.account, kept.gateway.id))!
      await own.gateways.replace({ ...kept.gateway, authentication: false }, version)
    })
    await writeAndHear(own, other, { kind: 'token', ...kept.token }, async () => {
      await own.tokens.remove(kept.token.account, kept.token.id)
    })
    await writeAndHear(own, other, { kind: 'oauth_client', ...kept.client }, async () => {
      await own.oauthClients.insert(kept.client)
    })
  })

  test(`${name}: every write of zone settings is reported, in every handle, within a second`, async t => {
    const open = await place(t)
    const [own, other] = await Promise.all([open(), open()])
    const [errors, access, page] = [errorRuleList(), accessRuleList(), errorPage()]
    await writeAndHear(own, other, { kind: 'error_rule_list', ...errors }, async () => {
      await own.errorRules.insert(errors)
    })
    await writeAndHear(own, other, { kind: 'access_rule_list', ...access }, async () => {
      await own.accessRules.insert(access)
    })
    await writeAndHear(own, other, { kind: 'error_page', ...page }, async () => {
      await own.errorPages.insert(page)
    })
    await writeAndHear(own, other, { kind: 'error_rule_list', ...errors }, async () => {
      const { version } = (await own.errorRules.get(errors.account, errors.id))!
      await own.errorRules.replace({ ...errors, rules: [] }, version)
    })
    await writeAndHear(own, other, { kind: 'error_page', ...page }, async () => {
      await own.errorPages.remove(page.account, page.id)
    })
  })

  test(`${name}: every write about people is reported, in every handle, within a second`, async t => {
    const open = await place(t)
    const [own, other] = await Promise.all([open(), open()])
    const [owner, person, kept] = [account(), user(), member()]
    await own.accounts.insert(owner)
    await writeAndHear(own, other, { kind: 'account', account: owner.id, id: owner.id }, async () => {
      await own.accounts.update(owner.id, { enforceTwoFactor: true })
    })
    await writeAndHear(own, other, { kind: 'user', ...person }, async () => {
      await own.users.insert(person)
    })
    await writeAndHear(own, other, { kind: 'member', ...kept }, async () => {
      await own.members.insert(kept)
    })
    await writeAndHear(own, other, { kind: 'member', ...kept }, async () => {
      const { version } = (await own.members.get(kept.account, kept.id))!
      await own.members.replace({ ...kept, roles: [] }, version)
    })
    await writeAndHear(own, other, { kind: 'user', ...person }, async () => {
      await own.users.remove(person.account, person.id)
    })
    const [grant, key] = [oauthGrant(), signingKey()]
    await writeAndHear(own, other, { kind: 'oauth_grant', ...grant }, async () => {
      await own.oauthGrants.insert(grant)
    })
    await writeAndHear(own, other, { kind: 'oauth_grant', ...grant }, async () => {
      await own.oauthGrants.remove(grant.account, grant.id)
    })
    await writeAndHear(own, other, { kind: 'signing_key', ...key }, async () => {
      await own.signingKeys.insert(key)
    })
    const certificate = hostCertificate()
    await writeAndHear(own, other, { kind: 'certificate', ...certificate }, async () => {
      await own.certificates.insert(certificate)
    })
    const ofTokens = tokenKey()
    await writeAndHear(own, other, { kind: 'token_key', ...ofTokens }, async () => {
      await own.tokenKeys.insert(ofTokens)
    })
  })

  test(`${name}: credentials that are removed are told, in every handle, within a second, and nothing else of them`, async t => {
    const open = await place(t)
    const [own, other] = await Promise.all([open(), open()])
    const told: Change[] = []
    const [alone, ...others] = Array.from({ length: 4 }, () => credential('access_token'))
    const { kind, digest } = alone!
    await writeAndHear(own, other, { kind: 'credential', account: kind, id: digest }, async () => {
      other.changes.follow(change => told.push(change))
      await own.credentials.putAll([alone!, ...others])
      await own.credentials.put({ ...alone!, data: 'changed' }, 'present')
      await own.credentials.consume(kind, digest, 1)
      await own.credentials.remove(kind, digest)
      await own.credentials.remove(kind, digest)
    })
    for (const [i, owner] of (['user', 'client', 'grant'] as const).entries())
      await writeAndHear(
        own,
        other,
        { kind: 'credential', account: owner, id: others[i]![owner]! },
        async () => {
          const removed = await own.credentials.removeOf({ [owner]: others[i]![owner]! })
          assert.equal(removed, 1)
        },
      )
    assert.equal(told.length, 4)
  })

  test(`${name}: a first start is reported`, async t => {
    const open = await place(t)
    const [own, other] = await Promise.all([open(), open()])
    const first = firstStart()
    const heard = [own, other].flatMap(store => [
      hear(store, { kind: 'gateway', ...first.gateway }),
      hear(store, { kind: 'token', ...first.token }),
      hear(store, { kind: 'token_key', ...first.tokenKey }),
    ])
    await own.bootstrap(first)
    await within(Promise.all(heard))
  })

  test(`${name}: what was reported can be read`, async t => {
    const open = await place(t)
    const [writer, reader] = await Promise.all([open(), open()])
    const kept = token()
    const heard = hear(reader, { kind: 'token', ...kept }).then(() => reader.tokens.findByDigest(kept.digest))
    await writer.tokens.insert(kept)
    assert.deepEqual(await within(heard), kept)
  })

  test(`${name}: a listener that ended gets nothing more`, async t => {
    const store = await (await place(t))()
    let told = 0
    const end = store.changes.follow(() => told++)
    end()
    end()
    const kept = gateway()
    const heard = hear(store, { kind: 'gateway', ...kept })
    await store.gateways.insert(kept)
    await within(heard)
    assert.equal(told, 0)
  })

  test(`${name}: until when changes are known moves on with time, without a write`, async t => {
    const store = await (await place(t))()
    const before = store.changes.knownUntil
    assert.ok(performance.now() - before < 5 * busySecond)
    await until(() => store.changes.knownUntil !== before)
    assert.ok(store.changes.knownUntil > before)
    assert.ok(store.changes.knownUntil <= performance.now())
  })
}

/** Writes in one handle and waits until both have told it. */
async function writeAndHear(own: Store, other: Store, change: Told, write: () => Promise<void>) {
  const heard = Promise.all([hear(own, change), hear(other, change)])
  await write()
  await within(heard)
}

function hear(store: Store, { kind, account, id }: Told): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = store.changes.follow(change => {
    if (change.kind === kind && change.account === account && change.id === id) resolve()
  })
  return promise.then(end)
}

async function within<T>(promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`nothing was told for ${busySecond} ms`)), busySecond)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
