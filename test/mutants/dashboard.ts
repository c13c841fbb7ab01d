// Mutations of the dashboard: who is let in, what they see, and what takes a form.

import type { Mutated } from './mutation.ts'

export const dashboard: readonly Mutated[] = [
  {
    file: 'dashboard/admission.ts',
    tests: ['dashboard/face'],
    changes: [
      {
        text: 'return permission === null || permits(token, permission, account)',
        becomes: 'return true',
        breaks: 'every member sees every page',
      },
      {
        text: 'if (maySee(found.route, account, person)) return steps',
        becomes: 'return steps',
        breaks: 'a switch of accounts leads to pages that are not there for the person',
      },
      {
        text: 'const open = places.filter(({ isShut }) => !isShut)',
        becomes: 'const open = places',
        breaks: 'the way in leads to an account that is shut',
      },
      {
        text: 'if (place?.isShut === true) return',
        becomes: 'if (false) return',
        breaks: 'an account that requires a second factor opens pages without one',
      },
      {
        text: "if (!isFormToken(sent.get('form_token'), known.session, formPathOf(route, ask.path)))",
        becomes: 'if (false)',
        breaks: 'a form counts without a token',
      },
      {
        text: "return isBesideForm ? path.slice(0, path.lastIndexOf('/')) : path",
        becomes: "return path.slice(0, path.lastIndexOf('/'))",
        breaks: 'the form of one page counts for another',
      },
      {
        text: 'await this.#standingOf({ ...sender, actor: found })',
        becomes: '{ known: sender }',
        breaks: 'who was removed while their form was held back still has it done',
      },
      {
        text: 'if (!isStale(actor.session, clock.now())) return null',
        becomes: 'return null',
        breaks: 'what is dangerous is done without a fresh proof',
      },
    ],
  },
  {
    file: 'dashboard/page/reauthentication.ts',
    tests: ['dashboard/second-proof'],
    changes: [
      {
        text: "return effect !== 'sets' && effect !== 'tries'",
        becomes: "return effect === 'ends'",
        breaks: 'whoever finds a browser signed in opens a gateway to everybody',
      },
      {
        text: "return effect !== 'sets' && effect !== 'tries'",
        becomes: "return effect === 'opens'",
        breaks: 'whoever finds a browser signed in deletes what there is',
      },
    ],
  },
  {
    file: 'people/sign-in/person-token.ts',
    tests: ['people/person-token'],
    changes: [
      {
        text: "({ status }) => status === 'accepted',",
        becomes: '() => true,',
        breaks: 'an invitation that is not accepted opens an account',
      },
      {
        text: '.filter(({ account }) => !lacksSecondFactor(user, account))',
        becomes: '',
        breaks: 'a person without a second factor may do all in an account that requires one',
      },
    ],
  },
  {
    file: 'admin/audit/audit-logs.ts',
    tests: ['admin/ask-as'],
    changes: [
      {
        text: "isInPerson(app) ? 'UI' : 'API'",
        becomes: "'API'",
        breaks: 'the audit does not tell what a person did themselves',
      },
      {
        text: 'result: proof?.failure === undefined',
        becomes: 'result: true',
        breaks: 'a failed sign-in looks like one that was none',
        tests: ['admin/records/audit-logs'],
      },
    ],
  },
  {
    file: 'admin/records/audit.ts',
    tests: ['admin/records/audit'],
    changes: [
      {
        text: 'if (!openMembers.has(name)) continue',
        becomes: '',
        breaks: 'secrets get into the audit log with the values of settings',
      },
      {
        text: 'if (size > room) continue',
        becomes: '',
        breaks: 'an entry of the audit log is as long as its author likes',
      },
    ],
  },
  {
    file: 'dashboard/audit/resource-links.ts',
    tests: ['dashboard/audit/audit'],
    changes: [
      {
        text: 'if (listed === undefined || !listed.ok) return false',
        becomes: '',
        breaks: 'the audit log leads to what is deleted',
      },
      {
        text: "may('Access Rules Write')",
        becomes: 'true',
        breaks: 'the audit log leads to what its viewer may not see',
      },
    ],
  },
  {
    file: 'dashboard/zones/page-data.ts',
    tests: ['dashboard/zones/zones'],
    changes: [
      {
        text: 'found.result.account.id === ask.account.id ? handle(ask, found.result) : noZone',
        becomes: 'handle(ask, found.result)',
        breaks: 'a zone of one account opens under another',
      },
    ],
  },
  {
    file: 'dashboard/zones/access-rules.ts',
    tests: ['dashboard/zones/access-rules'],
    changes: [
      {
        text: '{ ids }, { ifMatch: draft.etag }',
        becomes: '{ ids }',
        breaks: 'rules are moved by an order that is out of date',
      },
    ],
  },
]
