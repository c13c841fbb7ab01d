// The operations of zones, for the document of the API.

import { json, many, one, type Operation, refusal, refusals, type Tag, tagged } from '../schema/operation.ts'
import { moment, pageQuery } from '../schema/query-schemas.ts'
import { about, id, listOf, named, oneOf, open, success, text, whole } from '../schema/schema.ts'
import { changedAccessRule, newAccessRule } from './rules/access-rule-schemas.ts'
import {
  changedErrorRule,
  errorPageWithHtml,
  goneErrorPage,
  html,
  newErrorRule,
  preview,
  previewRequest,
} from './custom-errors/schemas.ts'
import { question } from './explain-schemas.ts'
import { errorOrders } from './recent-errors.ts'
import { maxRules } from './rules/rule-members.ts'
import { order } from './rules/rule-schemas.ts'

const zone = '/client/v4/zones/{zone}'
const pages = `${zone}/error_pages`
const errorPage = `${pages}/{page_type}`

const countsOfErrors =
  'Counts by hour, and the last requests that got each. They are a few seconds old, and the same on all machines that share the store.'

const errorQuery = {
  page: pageQuery.page!,
  per_page: pageQuery.per_page!,
  code: about('Only this code.', whole(1, 9_999)),
  since: about('Only hours that end later, in the last 24.', moment),
  order: about('What comes first: the last one, by default, or the most frequent.', oneOf(errorOrders)),
  ray: about('Only the request with this ray id, if it is among the last ones of its error.', {
    ...text,
    pattern: '^[0-9a-f]{16}$',
    examples: ['0123456789abcdef'],
  }),
}

const jsonForAgents = {
  expression: 'response.code == 522 && request.headers[?"accept"].orValue([]).exists(a, a.contains("json"))',
  content: '{"error":"the site is slow today","ray":"::RAY_ID::"}',
  content_type: 'application/json',
  description: 'Agents get JSON, browsers keep the page',
}

const maintenance = {
  expression: 'response.code >= 500 && request.host == "shop.example.com"',
  content: '<h1>Back soon</h1><p>::RAY_ID::</p>',
  content_type: 'text/html',
  status_code: 503,
}

const intruders = { action: 'deny', ip: ['198.51.100.0/24', '2001:db8::/32'], description: 'Scanned us' }
const office = {
  action: 'allow',
  expression: 'request.path.startsWith("/admin") && "x-office" in request.headers',
}

interface RuleWords {
  readonly tag: Tag
  readonly code: 'ErrorRule' | 'AccessRule'
  readonly word: 'error rule' | 'access rule'
  readonly created: Operation['body']
  readonly changed: Operation['body']
}

const owned = refusal('owned')

const full = refusals(['too_many_rules'], `There are ${maxRules} rules already.`)

export const zoneOperations = tagged('Zones', {
  'GET /client/v4/zones': {
    id: 'listZones',
    summary: 'List zones, with hosts, routes and settings',
    description:
      'By name: those of all accounts in which the token has the permission `Zones Read`, as the configuration in effect has them.',
    query: {
      page: pageQuery.page!,
      per_page: pageQuery.per_page!,
      direction: about('`asc` by default.', oneOf(['asc', 'desc'])),
      name: about('Those whose name contains this, in any case of letters.', text),
      'account.id': about('Those of this account.', id),
    },
    response: many('Zone'),
  },
  [`GET ${zone}`]: {
    id: 'getZone',
    summary: 'Show a zone, with hosts, routes and settings',
    response: one('Zone'),
  },
  ...ruleOperations(`${zone}/error_rules`, {
    tag: 'Custom errors',
    code: 'ErrorRule',
    word: 'error rule',
    created: {
      schema: newErrorRule,
      examples: {
        'JSON for agents': jsonForAgents,
        'Before all others': { ...maintenance, position: { index: 1 } },
      },
    },
    changed: { schema: changedErrorRule, examples: { 'With another status': maintenance } },
  }),
  [`GET ${zone}/error_rules/hits`]: {
    id: 'listErrorRuleHits',
    tag: 'Custom errors',
    summary: 'Show how often each error rule was used in the last day, in order',
    description: 'In one response, with the rules from the configuration file, and without content.',
    response: many('ErrorRuleHits'),
  },
  [`GET ${zone}/access_rules/hits`]: {
    id: 'listAccessRuleHits',
    tag: 'Access rules',
    summary: 'Show how often each access rule decided in the last day, in order',
    description:
      'In one response, with the rules from the configuration file, bans and the default. A rule of all zones has the hits of this zone. A rule of the file that changes starts again at 0.',
    response: many('AccessRuleHits'),
  },
  [`GET ${pages}`]: {
    id: 'listErrorPages',
    tag: 'Custom errors',
    summary: 'List the error pages that are set',
    description: 'Pages from the configuration file are not included.',
    response: many('ErrorPage'),
  },
  [`GET ${errorPage}`]: {
    id: 'getErrorPage',
    tag: 'Custom errors',
    summary: 'Show an error page with its HTML',
    response: json(success(errorPageWithHtml), ['etag']),
  },
  [`PUT ${errorPage}`]: {
    id: 'setErrorPage',
    tag: 'Custom errors',
    summary: 'Set an error page',
    description: 'It replaces one that is set here, and overrides one from the configuration file.',
    body: {
      schema: html,
      examples: { 'With a box': '<!doctype html><title>Sorry</title>::SVC_ERROR_1000S_BOX::' },
    },
    response: one('ErrorPage', ['etag']),
  },
  [`DELETE ${errorPage}`]: {
    id: 'deleteErrorPage',
    tag: 'Custom errors',
    summary: 'Delete an error page',
    response: json(success(goneErrorPage)),
  },
  [`POST ${zone}/error_preview`]: {
    id: 'previewError',
    tag: 'Custom errors',
    summary: 'Show what a client would get for an error',
    description: 'Nothing is stored or served. A rule or a page can be tried before it is set.',
    body: {
      schema: previewRequest,
      examples: {
        'What an agent gets': { code: 522, accept: 'application/json' },
        'With a draft rule': { code: 522, headers: { accept: ['application/json'] }, rule: jsonForAgents },
        'With a draft page': { code: 1020, page: { type: 'waf_block', html: '<p>No.</p>' } },
      },
    },
    response: json(success(preview)),
  },
  ...ruleOperations(`${zone}/access_rules`, {
    tag: 'Access rules',
    code: 'AccessRule',
    word: 'access rule',
    created: {
      schema: newAccessRule,
      examples: { 'Some networks': intruders, 'Requests with a header': office },
    },
    changed: {
      schema: changedAccessRule,
      examples: { 'For legal reasons': { ...intruders, action: 'legal' } },
    },
  }),
  [`POST ${zone}/explain`]: {
    id: 'explainRequest',
    summary: 'Explain what would happen to a request',
    description:
      'The steps of the gateway decide on it as on any other request, but nothing is sent, counted or logged, and nobody is banned. The host must lead to the zone, or to no zone; AI calls must be to the account that owns the zone.',
    body: {
      schema: question,
      examples: {
        'A page': { host: 'shop.example.com', path: '/a//b?page=2', address: '203.0.113.7' },
        'An upload': {
          host: 'shop.example.com',
          path: '/upload',
          method: 'PUT',
          headers: { accept: 'application/json', 'x-tag': ['one', 'two'] },
          address: '2001:db8::7',
          body_size: 1_000_000,
        },
      },
    },
    response: one('Explanation'),
    refusals: [refusal('not_serving', ['retry-after'])],
  },
  [`GET ${zone}/rate_limits`]: {
    id: 'listRateLimits',
    summary: 'List the rate limits and quotas of a zone, with the clients nearest to them',
    description:
      'In one response. What the gateway has counted lately; a key that no process has in memory is not among the nearest.',
    response: json(success(listOf(named('RateLimit')))),
  },
  [`GET ${zone}/mcp`]: {
    id: 'listMcpRoutes',
    summary: 'List what the MCP servers of a zone were asked in the last day, by whom, and what was refused',
    description:
      'For each route to one. Counts are a few seconds old, and the same on all machines that share the store.',
    response: json(success(listOf(named('McpRoute')))),
  },
  [`GET ${zone}/errors`]: {
    id: 'listZoneErrors',
    summary: 'List the errors that happened in a zone in the last day, by code',
    description: countsOfErrors,
    query: errorQuery,
    response: many('HappenedError'),
  },
  'GET /client/v4/accounts/{account_id}/errors': {
    id: 'listAccountErrors',
    summary: 'List the errors that happened in all zones and AI gateways in the last day, by code',
    description: `${countsOfErrors} Requests outside of all zones and AI gateways are shown to the oldest account.`,
    query: errorQuery,
    response: many('HappenedError'),
  },
  [`GET ${zone}/certificates`]: {
    id: 'listCertificates',
    summary: 'Show which certificate each host of a zone has',
    description:
      'Those of files, and those that the gateway gets by itself, with the time of the next order and why the last one failed.',
    response: json(success(listOf(named('Certificate')))),
  },
  [`GET ${zone}/origins`]: {
    id: 'listOrigins',
    tag: 'Origins',
    summary: 'Show the pools of origins and their state',
    response: json(success(listOf(named('Pool')))),
  },
})

function ruleOperations(
  path: string,
  { tag, code, word, created, changed }: RuleWords,
): Record<string, Operation> {
  return {
    [`GET ${path}`]: {
      id: `list${code}s`,
      tag,
      summary: `List the ${word}s that are set, in order`,
      description:
        'In one response. Rules from the configuration file are not included: they come after these.',
      response: many(code, ['etag']),
    },
    [`POST ${path}`]: {
      id: `create${code}`,
      tag,
      summary: `Create an ${word}`,
      body: created!,
      response: one(code, ['etag']),
      refusals: [owned, full],
    },
    [`PUT ${path}/order`]: {
      id: `reorder${code}s`,
      tag,
      summary: `Reorder the ${word}s`,
      body: { schema: order, examples: { 'A single rule': { ids: ['0123456789abcdef0123456789abcdef'] } } },
      response: many(code, ['etag']),
    },
    [`PUT ${path}/{rule_id}`]: {
      id: `update${code}`,
      tag,
      summary: `Replace an ${word}`,
      description: 'It keeps its id and position.',
      body: changed!,
      response: one(code, ['etag']),
    },
    [`DELETE ${path}/{rule_id}`]: {
      id: `delete${code}`,
      tag,
      summary: `Delete an ${word}`,
      response: json(success(open({ id })), ['etag']),
    },
  }
}
