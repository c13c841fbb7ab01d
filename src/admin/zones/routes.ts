// The rows of the admin listener about zones: method, path, permission, handler.

import { maxWork } from '../../expression/work-budget.ts'
import type { AccessRule } from '../../config/model/access-config.ts'
import type { ErrorRule } from '../../config/model/custom-errors-config.ts'
import type { Permission } from '../../permissions/permit.ts'
import { accessRuleWork, readAccessRule, viewAccessRule } from './rules/access-rule-body.ts'
import { deleteErrorPage, getErrorPage, listErrorPages, setErrorPage } from './custom-errors/pages.ts'
import { previewZoneError } from './custom-errors/preview.ts'
import { errorRuleWork, readErrorRule, viewErrorRule } from './custom-errors/rule-body.ts'
import { htmlBody, jsonBody, largeJsonBody } from '../http/request-body.ts'
import { explainRequest } from './explain.ts'
import { errorParameters, listZoneErrors } from './recent-errors.ts'
import type { ZoneRow } from '../api/api-types.ts'
import { listRateLimits } from './rate-limits.ts'
import { listAccessRuleHits, listErrorRuleHits } from './rules/rule-hits.ts'
import { getZone, listCertificates, listOrigins } from './zone-list.ts'
import { type Described, ZoneRules } from './rules/zone-rules.ts'

const zone = '/client/v4/zones/{zone}'
const pages = `${zone}/error_pages`
const page = `${zone}/error_pages/{page_type}`

const errorRules = new ZoneRules<ErrorRule>({
  resourceKind: 'error_rules',
  recordsOf: ({ errorRules }) => errorRules,
  read: readErrorRule,
  view: viewErrorRule,
  work: errorRuleWork,
  mostWork: maxWork.errors.api,
})

const accessRules = new ZoneRules<AccessRule>({
  resourceKind: 'access_rules',
  recordsOf: ({ accessRules }) => accessRules,
  read: readAccessRule,
  view: viewAccessRule,
  work: accessRuleWork,
  mostWork: maxWork.rules.api,
})

/** The management API of zones. */
export const zoneRows: readonly ZoneRow[] = [
  { method: 'GET', path: zone, permission: 'Zones Read', handle: getZone },

  {
    method: 'GET',
    path: `${zone}/error_rules/hits`,
    permission: 'Custom Errors Read',
    handle: listErrorRuleHits,
  },
  ...rowsOf(`${zone}/error_rules`, errorRules, 'Custom Errors Read', 'Custom Errors Write'),

  { method: 'GET', path: pages, permission: 'Custom Errors Read', handle: listErrorPages },
  { method: 'GET', path: page, permission: 'Custom Errors Read', handle: getErrorPage },
  {
    method: 'PUT',
    path: page,
    permission: 'Custom Errors Write',
    body: htmlBody,
    headers: ['if-match', 'if-none-match'],
    lastingAccess: 'nothing',
    handle: setErrorPage,
  },
  {
    method: 'DELETE',
    path: page,
    permission: 'Custom Errors Write',
    headers: ['if-match'],
    lastingAccess: 'nothing',
    handle: deleteErrorPage,
  },

  // It changes nothing, so read permission is enough.
  {
    method: 'POST',
    path: `${zone}/error_preview`,
    permission: 'Custom Errors Read',
    body: largeJsonBody,
    lastingAccess: 'nothing',
    handle: previewZoneError,
  },

  {
    method: 'GET',
    path: `${zone}/access_rules/hits`,
    permission: 'Access Rules Read',
    handle: listAccessRuleHits,
  },
  ...rowsOf(`${zone}/access_rules`, accessRules, 'Access Rules Read', 'Access Rules Write'),

  // It changes nothing either.
  {
    method: 'POST',
    path: `${zone}/explain`,
    permission: 'Access Rules Read',
    body: jsonBody,
    lastingAccess: 'nothing',
    handle: explainRequest,
  },
  {
    method: 'GET',
    path: `${zone}/errors`,
    permission: 'Analytics Read',
    query: errorParameters,
    handle: listZoneErrors,
  },

  { method: 'GET', path: `${zone}/rate_limits`, permission: 'Zones Read', handle: listRateLimits },

  { method: 'GET', path: `${zone}/certificates`, permission: 'Zones Read', handle: listCertificates },

  { method: 'GET', path: `${zone}/origins`, permission: 'Origins Read', handle: listOrigins },
]

function rowsOf<Rule extends Described>(
  path: string,
  rules: ZoneRules<Rule>,
  reading: Permission,
  writing: Permission,
): readonly ZoneRow[] {
  const write = { permission: writing, headers: ['if-match'], lastingAccess: 'nothing' } as const
  const rule = `${path}/{rule_id}`
  return [
    { method: 'GET', path, permission: reading, handle: (...args) => rules.list(...args) },
    { method: 'POST', path, ...write, body: jsonBody, handle: (...args) => rules.create(...args) },
    // Before the row of one rule, whose path matches as well.
    {
      method: 'PUT',
      path: `${path}/order`,
      ...write,
      body: jsonBody,
      handle: (...args) => rules.reorder(...args),
    },
    { method: 'PUT', path: rule, ...write, body: jsonBody, handle: (...args) => rules.replace(...args) },
    { method: 'DELETE', path: rule, ...write, handle: (...args) => rules.remove(...args) },
  ]
}
