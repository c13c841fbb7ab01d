// Mutations of the management API of people and grants.

import type { Mutated } from './mutation.ts'

export const members: readonly Mutated[] = [
  {
    file: 'admin/api/guard.ts',
    tests: ['admin/oauth-grants/grants'],
    changes: [
      {
        text: 'if (caller.actor !== undefined && hasScope(caller.actor.scopes, row.scope)) return null',
        becomes: 'if (caller.actor !== undefined) return null',
        breaks: 'an app with any scope sees and ends what others may do for its user',
      },
      {
        text: "scopes.includes(wanted.replace(/\\.read$/, '.write'))",
        becomes: "scopes.includes(wanted.replace(/\\.write$/, '.read'))",
        breaks: 'who may read may write',
      },
    ],
  },
  {
    file: 'admin/api/lasting-access.ts',
    tests: ['admin/outlasting'],
    changes: [
      {
        text: 'return actor === undefined || isInPerson(actor) ? null :',
        becomes: 'return true ? null :',
        breaks: 'what an app makes is left when it is disconnected',
      },
      {
        text: 'actor === undefined || isInPerson(actor)',
        becomes: 'actor === undefined',
        breaks: 'nobody invites members in the dashboard',
      },
    ],
  },
  {
    file: 'admin/api/guard.ts',
    tests: ['admin/outlasting'],
    changes: [
      {
        text: "return outlasting === 'nothing' || outlasting.when === 'found' ? null",
        becomes: 'return true ? null',
        breaks: 'an app invites an address of its own, and stays',
      },
    ],
  },
  {
    file: 'admin/oauth-clients/routes.ts',
    tests: ['admin/outlasting'],
    changes: [
      {
        text: "always('create a client secret')",
        becomes: "'nothing'",
        breaks: 'an app takes the secret of another with it',
      },
      {
        text: "always('change an OAuth client, whose URIs, scopes and visibility stay')",
        becomes: "'nothing'",
        breaks: 'an app has the codes of another sent to itself',
      },
    ],
  },
  {
    file: 'admin/gateways/gateways.ts',
    tests: ['admin/outlasting'],
    changes: [
      {
        text: 'const isOpened = kept.authentication && !authentication',
        becomes: 'const isOpened = false',
        breaks: 'an app that is disconnected goes on calling models without a token',
      },
      {
        text: 'const refusal = read.authentication ? null :',
        becomes: 'const refusal = true ? null :',
        breaks: 'an app makes itself a gateway that asks for no token',
      },
    ],
  },
  {
    file: 'admin/people/routes.ts',
    tests: ['admin/people/accounts'],
    changes: [
      {
        text: "permission: 'Account Settings Write'",
        becomes: "permission: 'Members Write'",
        breaks: 'a token that invites members no longer asks a second factor of them',
      },
    ],
  },
  {
    file: 'permissions/roles.ts',
    tests: ['permissions/roles'],
    changes: [
      {
        text: " && name !== 'Account Settings Write'",
        becomes: '',
        breaks: 'an administrator makes tokens that change the account',
      },
    ],
  },
  {
    file: 'admin/upkeep/audit-keeper.ts',
    tests: ['admin/records/audit-keeper'],
    changes: [
      {
        text: 'isStranger(actor) ? Math.min(mostOfStrangers, entriesPerToken) : entriesPerToken',
        becomes: 'entriesPerToken',
        breaks: 'who guesses for months fills the store',
      },
    ],
  },
  {
    file: 'admin/audit/routes.ts',
    tests: ['admin/records/audit-logs'],
    changes: [
      {
        text: "audit_logs`,\n    permission: 'Audit Logs Read'",
        becomes: "audit_logs`,\n    permission: 'API Tokens Read'",
        breaks: 'who sees tokens sees what everybody did',
      },
      {
        text: "audit_logs/export`,\n    permission: 'Audit Logs Read'",
        becomes: "audit_logs/export`,\n    permission: 'API Tokens Read'",
        breaks: 'who sees tokens downloads what everybody did',
      },
    ],
  },
  {
    file: 'admin/people/member-reach.ts',
    tests: ['admin/people/members'],
    changes: [
      {
        text: '    if (beyond.length === 0) return []',
        becomes: '    return []',
        breaks: 'a token makes a super administrator of anybody',
      },
      {
        text: "  if (beyond.length === 0) return null\n  const rule = `your token does not have ${beyond.join(', ')}, so it cannot change",
        becomes:
          "  return null\n  const rule = `your token does not have ${beyond.join(', ')}, so it cannot change",
        breaks: 'a weak token removes super administrators',
      },
    ],
  },
  {
    file: 'admin/people/members.ts',
    tests: ['admin/people/members', 'admin/oauth-grants/grants'],
    changes: [
      {
        text: '  const refusal = touchingBeyond(roles, caller, account)\n  if (refusal) return refusal\n  if (status',
        becomes: '  if (status',
        breaks: 'a weak token gets the link of a super administrator to be',
      },
      {
        text: "    await store.credentials.remove('invitation', link.credential.digest)\n",
        becomes: '',
        breaks: 'a link of an invitation that was refused stays',
        tests: ['admin/people/members', 'admin/people/people-at-once'],
      },
    ],
  },
  {
    file: 'admin/people/find-member.ts',
    tests: ['admin/people/members', 'admin/oauth-grants/grants', 'admin/people/user'],
    changes: [
      {
        text: '      await endGrantsOf({ account, user }, { ...call, account }, api)\n',
        becomes: '',
        breaks: 'what a member allowed comes back with the next invitation',
      },
      {
        text: "if (cause instanceof LastSuperAdministrator) return failure('last_super_administrator')",
        becomes: '',
        breaks: 'the last super administrator who leaves is told of a bug',
      },
    ],
  },
  {
    file: 'admin/people/member-view.ts',
    tests: ['admin/people/members'],
    changes: [
      {
        text: "return status === 'accepted' && isEmailVerified(user)",
        becomes: 'return isEmailVerified(user)',
        breaks: 'an invitation tells who is known at the provider',
      },
      {
        text: "const isKnown = member.status === 'accepted'",
        becomes: 'const isKnown = true',
        breaks: 'an invitation tells who is known here, and how',
      },
    ],
  },
  {
    file: 'admin/people/memberships.ts',
    tests: ['admin/people/user'],
    changes: [
      {
        text: 'const found = (await membershipsOf(actor.user, store)).find(',
        becomes: 'const found = (await store.members.ofUser(actor.user)).find(',
        breaks: 'whoever signed up with an address first accepts the invitations of others',
      },
    ],
  },
  {
    file: 'admin/people/sessions.ts',
    tests: ['admin/people/user'],
    changes: [
      {
        text: 'await sessionsOf(api).endEverything(user)',
        becomes: 'await sessionsOf(api).endAll(user)',
        breaks: 'apps go on after their user signed out everywhere',
      },
    ],
  },
  {
    file: 'oauth-grants/end.ts',
    tests: ['admin/oauth-grants/grants', 'sign-in/account'],
    changes: [
      {
        text: '  await credentials.removeOf({ grant: id })\n',
        becomes: '',
        breaks: 'codes and tokens of a grant that ended stay',
      },
    ],
  },
  {
    file: 'admin/upkeep/grant-ending.ts',
    tests: ['admin/oauth-grants/grants', 'admin/oauth-grants/grant-keeper'],
    changes: [
      {
        text: 'return ender.account === account ? ender :',
        becomes: 'return true ? { ...ender, account } :',
        breaks: 'an account learns who in another one ended a grant, and from where',
      },
      {
        text: 'if (grant.clientAccount !== account) return false',
        becomes: 'return true',
        breaks: 'who leaves one account loses apps in all',
      },
      {
        text: "?.record.visibility !== 'public'",
        becomes: '=== null',
        breaks: 'what a member allowed a private client comes back with the next invitation',
      },
    ],
  },
  {
    file: 'admin/upkeep/grant-keeper.ts',
    tests: ['admin/oauth-grants/grant-keeper', 'admin/oauth-grants/grants'],
    changes: [
      {
        text: 'if (client && (await this.#hasUser(grant, client.record)))',
        becomes: 'if (client)',
        breaks: 'a grant of a member who left stays after a crash',
      },
      {
        text: 'if (account !== everybody && ',
        becomes: 'if (',
        breaks: 'what people without an account allowed is ended',
      },
    ],
  },
]
