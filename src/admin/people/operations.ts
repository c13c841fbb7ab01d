// The operations of accounts and their members, for the document of the API.

import { json, type Operation } from '../openapi/operation.ts'
import { pageQuery } from '../openapi/query-schemas.ts'
import { about, named, oneOf, page, success, text } from '../openapi/schemas.ts'

const tag = 'Members'
const accounts = '/client/v4/accounts'
const account = `${accounts}/{account_id}`
const roles = `${account}/roles`

const { cursor: _, ...countedPages } = pageQuery

export const peopleOperations: Readonly<Record<string, Operation>> = {
  [`GET ${accounts}`]: {
    id: 'listAccounts',
    tag,
    summary: 'List the accounts that the token of this request can access',
    query: {
      ...countedPages,
      direction: about('By creation; `asc` by default.', oneOf(['asc', 'desc'])),
      name: about('Part of the name, case-insensitive.', text),
    },
    answer: json(page(named('Account'))),
  },
  [`GET ${account}`]: {
    id: 'getAccount',
    tag,
    summary: 'Show an account',
    answer: json(success(named('Account'))),
  },
  [`GET ${roles}`]: {
    id: 'listRoles',
    tag,
    summary: 'List the roles that members can have',
    query: countedPages,
    answer: json(page(named('Role'))),
  },
  [`GET ${roles}/{role_id}`]: {
    id: 'getRole',
    tag,
    summary: 'Show a role',
    answer: json(success(named('Role'))),
  },
}
