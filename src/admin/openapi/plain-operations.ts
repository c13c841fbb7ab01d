// The operations outside of accounts, for the document of the API.

import { metricsContentType } from '../../metrics/metrics.ts'
import { entries } from '../../errors/docs/entry.ts'
import { bug, forbidden, storeUnreachable, unauthorized } from './refusals.ts'
import { json, type Operation, tagged } from '../schema/operation.ts'
import { exactly, flag, listOf, oneOf, open, text, whole } from '../schema/schema.ts'

const documentedError = open(
  {
    code: oneOf(entries.map(({ code }) => code)),
    name: oneOf(entries.map(({ name }) => name)),
    title: text,
    status: whole(400, 599),
    category: oneOf([...new Set(entries.map(({ category }) => category))]),
    retryable: flag,
    owner_action_required: flag,
    raised: flag,
    cause: text,
    remedy: text,
    detail: text,
    what_you_should_do: text,
  },
  { retry_after: whole(0) },
)

const asPage = { content: { 'text/html; charset=utf-8': text } }

export const plainOperations = tagged('Gateway', {
  'GET /client/v4/openapi.json': {
    id: 'getOpenApi',
    summary: 'Show this document',
    response: json({ type: 'object', required: ['openapi', 'info', 'paths'] }),
  },
  'GET /': {
    id: 'getHome',
    summary: 'Show the state of the gateway, with links',
    description: 'As a page, or as JSON if Accept prefers it.',
    response: {
      content: {
        'application/json': open(
          { status: oneOf(['ready', 'degraded', 'unready']), links: listOf(text) },
          { reason: text },
        ),
        'text/html; charset=utf-8': text,
      },
    },
  },
  'GET /healthz': {
    id: 'isAlive',
    summary: 'Check that the gateway is alive',
    response: json(open({ status: exactly('alive') })),
  },
  'GET /readyz': {
    id: 'isReady',
    summary: 'Check that the gateway is ready for traffic',
    description:
      'The gateway is degraded, but ready, while the store is unreachable (cached tokens are served) or does not confirm writes (changes get 503).',
    response: json(open({ status: oneOf(['ready', 'degraded']) }, { reason: text, next: text })),
    refusals: [
      {
        status: 503,
        faults: [],
        description:
          'Not ready for traffic: starting, draining, no worker is up, or the store is not trusted (why, and what to do next).',
        content: { 'application/json': open({ status: exactly('unready'), reason: text }, { next: text }) },
      },
    ],
  },
  'GET /metrics': {
    id: 'getMetrics',
    summary: 'Show metrics in the Prometheus text format',
    description:
      '`management.metrics` decides whether a token with the permission `Metrics Read` in the oldest account is required. By default it is, unless the side port is on loopback and the request did not come through a proxy.',
    hasToken: 'maybe',
    response: { content: { [metricsContentType]: text } },
    refusals: [unauthorized, forbidden, storeUnreachable, bug],
  },
  'GET /errors': {
    id: 'listErrors',
    summary: 'List the errors of the gateway',
    description: 'In the format that Accept prefers.',
    response: inAnyFormat(open({ errors: listOf(documentedError) })),
  },
  'GET /errors/{code}': {
    id: 'getError',
    summary: 'Explain an error',
    description: 'In the format that Accept prefers.',
    response: inAnyFormat(documentedError),
  },
  'GET /docs': { id: 'listGuides', summary: 'List the guides of this version, as a page', response: asPage },
  'GET /docs/{guide}': { id: 'showGuide', summary: 'Show a guide, as a page', response: asPage },
  'GET /docs/api': {
    id: 'listOperations',
    summary: 'List the operations of this API, as a page',
    response: asPage,
  },
  'GET /docs/api/{operation}': {
    id: 'showOperation',
    summary: 'Explain an operation of this API, as a page',
    response: asPage,
  },
})

function inAnyFormat(schema: ReturnType<typeof open>): Operation['response'] {
  const { content } = json(schema)
  return {
    content: {
      'application/json; charset=utf-8': content['application/json']!,
      'text/markdown; charset=utf-8': text,
      'text/plain; charset=utf-8': text,
      'text/html; charset=utf-8': text,
    },
  }
}
