// Mutations of the management API.

import type { Mutated } from './mutation.ts'

export const admin: readonly Mutated[] = [
  {
    file: 'admin/api/guard.ts',
    tests: ['admin/guard'],
    changes: [
      {
        text: 'if (mayAsk(caller, row.permission, account)) return null',
        becomes: 'if (true) return null',
        breaks: 'any token reads and changes everything',
      },
      {
        text: 'isRead ? await verified(row, requester, api) : who.caller',
        becomes: 'who.caller',
        breaks: 'a token that is revoked while a body is held back is good for what it says',
      },
      {
        text: "if (typeof caller !== 'string') return caller\n  refusals?.note(caller, row, requester)\n",
        becomes: "if (typeof caller !== 'string') return caller\n",
        breaks: 'refused callers leave nothing in the log',
        tests: ['admin/guard', 'admin/refusal-log'],
      },
      {
        text: 'permission === null ? reaches(caller, account)',
        becomes: 'permission === null ? true',
        breaks: 'a token asks for the account of another',
      },
      {
        text: 'if (permits(caller, row.permission, caller.account)) return noZone',
        becomes: '',
        breaks: 'whoever asks learns which zones there are',
        tests: ['admin/guard', 'admin/zones/rules/zone-rules', 'journeys/zone-api'],
      },
      {
        text: 'if (caller.account !== account && !(await exists(account, api.store)))',
        becomes: 'if (false)',
        breaks: 'a change is made in an account that there is not',
      },
      {
        text: "if (status === 409 || status === 412 || (status === 404 && method === 'DELETE')) await store.confirm()",
        becomes: '',
        breaks: 'what may be undone by a failover is told as done',
        tests: ['admin/records/unconfirmed'],
      },
      {
        text: 'const strays = row.query === null ? [] : strayParameters(query, row.query ?? [])',
        becomes: 'const strays: ReturnType<typeof strayParameters> = []',
        breaks: 'a parameter that is spelled wrong is passed over',
        tests: ['admin/guard', 'admin/tokens/tokens'],
      },
    ],
  },
  {
    file: 'admin/http/precondition.ts',
    tests: ['admin/request/precondition'],
    changes: [
      {
        text: "tags === '*' || tags.includes(headers.etag!) ? null",
        becomes: 'true ? null',
        breaks: 'a change overwrites what its sender has not seen',
      },
      {
        text: 'if (tag !== undefined && (countsWeak || isWeak === undefined)) tags.push(tag)',
        becomes: 'if (tag !== undefined) tags.push(tag)',
        breaks: 'a weak tag matches',
      },
    ],
  },
  {
    file: 'admin/api/idempotency.ts',
    tests: ['admin/request/idempotency'],
    changes: [
      {
        text: 'kept.fingerprint === fingerprint ? replay(kept, api) : otherBody',
        becomes: 'replay(kept, api)',
        breaks: 'another request gets the response of the first',
      },
      {
        text: '[caller.id, account, ...request, idempotencyKey]',
        becomes: '[account, ...request, idempotencyKey]',
        breaks: 'a caller gets the response, and the secret, of another',
        tests: ['admin/request/idempotency', 'admin/oauth-clients/clients'],
      },
      {
        text: 'const sealed = api.secrets.seal(JSON.stringify(response), key)',
        becomes: 'const sealed = JSON.stringify(response)',
        breaks: 'secrets stand in the store for all to read',
        tests: ['admin/request/idempotency', 'admin/oauth-clients/clients'],
      },
    ],
  },
  {
    file: 'admin/http/duplicate-members.ts',
    tests: ['admin/request/repeated-members'],
    changes: [
      {
        text: 'if (open.names.has(open.at)) found.push(pointerOf(path))',
        becomes: '',
        breaks: 'of two members one is taken, and nobody knows which',
      },
    ],
  },
  {
    file: 'admin/tokens/reach.ts',
    tests: ['admin/tokens/tokens'],
    changes: [
      {
        text: 'permits(alone, name, account) && !permits(caller, name, account)',
        becomes: 'permits(alone, name, account) && false',
        breaks: 'a token makes another that may do more',
      },
      {
        text: 'if (end === null || (expiresOn !== null && expiresOn <= end)) return []',
        becomes: 'if (end === null || expiresOn !== null) return []',
        breaks: 'a token makes one that outlives it',
      },
      {
        text: 'if (inner.family !== outer.family || inner.prefix < outer.prefix) return false',
        becomes: 'if (inner.family !== outer.family) return false',
        breaks: 'a token makes one that works from more addresses',
      },
      {
        text: 'if (!areWithin(denied, addressesNotIn)) {',
        becomes: 'if (false) {',
        breaks: 'a token makes one that works from where it must not',
      },
    ],
  },
  {
    file: 'oauth-grants/personal-tokens.ts',
    tests: ['oauth-grants/personal-tokens'],
    changes: [
      {
        text: "if (id !== person.member || status !== 'accepted') return null",
        becomes: "if (status !== 'accepted') return null",
        breaks: 'another membership brings the tokens of an earlier one back',
      },
      {
        text: 'groupsOfRoles(roles).has(runGroup) && ',
        becomes: '',
        breaks: 'a person calls models whose roles do not include that',
      },
      {
        text: ' && !lacksSecondFactor(user.record, owning)',
        becomes: '',
        breaks: 'a token of a person passes the second step that the account requires',
      },
      {
        text: '.filter(group => group === runGroup)',
        becomes: '',
        breaks: 'a personal token does what an administrator wrote into it',
      },
    ],
  },
  {
    file: 'admin/tokens/own-tokens.ts',
    tests: ['dashboard/own-tokens/own-tokens'],
    changes: [
      {
        text: 'if (kept?.record.person?.user !== call.actor.user) continue',
        becomes: 'if (kept === null) continue',
        breaks: 'a member revokes the tokens of others',
      },
    ],
  },
  {
    file: 'admin/providers/providers.ts',
    tests: ['admin/providers/providers'],
    changes: [
      {
        text: ' && (await oldestOf(store.accounts)) === account',
        becomes: '',
        breaks: 'other accounts see where the keys of the gateway are',
      },
      {
        text: "permits(caller, 'Metrics Read', account) && ",
        becomes: '',
        breaks: 'any token that sees gateways sees where their keys are',
      },
    ],
  },
  {
    file: 'admin/tokens/tokens.ts',
    tests: ['admin/tokens/tokens'],
    changes: [
      {
        text: 'const refusal = untouchable(powersBeyond(kept.record.policies, caller))',
        becomes: 'const refusal = null as ReturnType<typeof untouchable>',
        breaks: 'a token deletes one that may do more',
      },
      {
        text: 'const refusal = untouchable(reachBeyond(kept.record, caller))',
        becomes: 'const refusal = null as ReturnType<typeof untouchable>',
        breaks: 'a token rolls one that may do more, and has it then',
      },
    ],
  },
  {
    file: 'admin/oauth-clients/client-change.ts',
    tests: ['admin/oauth-clients/change'],
    changes: [
      {
        text: "if (settings.tokenEndpointAuthMethod === 'none') return { secrets: [], secret: null }",
        becomes:
          "if (settings.tokenEndpointAuthMethod === 'none') return { secrets: kept.secrets, secret: null }",
        breaks: 'secrets live on of an app that has none',
      },
      {
        text: "...(visibility === 'private' ? [fault('public_for_ever')] : []),",
        becomes: '',
        breaks: 'a public app is made private under its users',
      },
    ],
  },
  {
    file: 'admin/oauth-clients/secrets.ts',
    tests: ['admin/oauth-clients/secrets'],
    changes: [
      {
        text: 'const refusal = unmet(call.ifMatch, record)',
        becomes: 'const refusal = null as ReturnType<typeof unmet>',
        breaks: 'a secret is rotated that its owner has not seen',
      },
    ],
  },
  {
    file: 'admin/api/write-limit.ts',
    tests: ['admin/write-limit'],
    changes: [
      {
        text: 'return isAllowed ? null :',
        becomes: 'return true ? null :',
        breaks: 'a token fills the store and its audit log',
      },
    ],
  },
  {
    file: 'admin/server.ts',
    tests: ['admin/server', 'admin/guard'],
    changes: [
      {
        text: "return count > 1 ? '' : (value as string)",
        becomes: 'return value as string',
        breaks: 'of two tokens one counts',
      },
    ],
  },
  {
    file: 'net/http/side-port-auth.ts',
    tests: ['net/http/side-port-auth'],
    changes: [
      {
        text: "timingSafeEqual(this.#sign(claim), Buffer.from(signature, 'base64url')) ?",
        becomes: 'true ?',
        breaks: 'any client is who it says it is at the side port',
      },
    ],
  },
  {
    file: 'admin/zones/zone-list.ts',
    tests: ['admin/zones/zone-list'],
    changes: [
      {
        text: "!permits(caller, 'Zones Read', owner.id)",
        becomes: 'false',
        breaks: 'any token lists the zones of all accounts',
      },
      {
        text: 'headers.map(({ name }) => name)',
        becomes: 'headers.map(({ name, value }) => `${name}: ${value}`)',
        breaks: 'secrets of origins are shown to those who may only read',
      },
    ],
  },
  {
    file: 'admin/zones/recent-errors.ts',
    tests: ['admin/zones/happened-errors'],
    changes: [
      {
        text: 'if (isOldest) places.push',
        becomes: 'places.push',
        breaks: 'every account sees requests to the hosts of nobody',
      },
    ],
  },
  {
    file: 'admin/zones/rate-limits.ts',
    tests: ['admin/zones/rate-limits'],
    changes: [
      {
        text: '!isShared || isOldest',
        becomes: 'true',
        breaks: 'an account sees the clients of other zones',
      },
      {
        text: 'isSecret ? masked(value) : value',
        becomes: 'value',
        breaks: 'tokens are shown in full',
      },
    ],
  },
  {
    file: 'edge/exchange/count-error.ts',
    tests: ['edge/note-error'],
    changes: [
      {
        text: "holdsOurs(head.target) ? '' : ",
        becomes: '',
        breaks: 'credentials in paths are kept in the store',
      },
    ],
  },
]
