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
import { row, type ZoneRow } from '../api/api-types.ts'
import { listMcpRoutes } from './mcp-routes.ts'
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
  maxWork: maxWork.errors.api,
})

const accessRules = new ZoneRules<AccessRule>({
  resourceKind: 'access_rules',
  recordsOf: ({ accessRules }) => accessRules,
  read: readAccessRule,
  view: viewAccessRule,
  work: accessRuleWork,
  maxWork: maxWork.rules.api,
})

export const zoneRows: readonly ZoneRow[] = [
  row('GET', zone, 'Zones Read', getZone),

  row('GET', `${zone}/error_rules/hits`, 'Custom Errors Read', listErrorRuleHits),
  ...rowsOf(`${zone}/error_rules`, errorRules, 'Custom Errors Read', 'Custom Errors Write'),

  row('GET', pages, 'Custom Errors Read', listErrorPages),
  row('GET', page, 'Custom Errors Read', getErrorPage),
  row('PUT', page, 'Custom Errors Write', setErrorPage, {
    body: htmlBody,
    headers: ['if-match', 'if-none-match'],
    lastingAccess: 'nothing',
  }),
  row('DELETE', page, 'Custom Errors Write', deleteErrorPage, { headers: ['if-match'] }),

  // It changes nothing, so read permission is enough.
  row('POST', `${zone}/error_preview`, 'Custom Errors Read', previewZoneError, {
    body: largeJsonBody,
    lastingAccess: 'nothing',
  }),

  row('GET', `${zone}/access_rules/hits`, 'Access Rules Read', listAccessRuleHits),
  ...rowsOf(`${zone}/access_rules`, accessRules, 'Access Rules Read', 'Access Rules Write'),

  row('POST', `${zone}/explain`, 'Access Rules Read', explainRequest, {
    body: jsonBody,
    lastingAccess: 'nothing',
  }),
  row('GET', `${zone}/errors`, 'Analytics Read', listZoneErrors, { query: errorParameters }),

  row('GET', `${zone}/rate_limits`, 'Zones Read', listRateLimits),

  row('GET', `${zone}/mcp`, 'Zones Read', listMcpRoutes),

  row('GET', `${zone}/certificates`, 'Zones Read', listCertificates),

  row('GET', `${zone}/origins`, 'Origins Read', listOrigins),
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
    row('GET', path, reading, (...args) => rules.list(...args)),
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
