// The operations that stand outside of accounts, for the document of the API.

import { metricsContentType } from '../../metrics/metrics.ts'
import { entries } from '../../errors/docs/entry.ts'
import { bug, forbidden, storeAway, unauthorized } from './refusals.ts'
import { json, type Operation } from './operation.ts'
import { exactly, flag, listOf, named, oneOf, open, page, text, whole } from './schemas.ts'

const tag = 'Gateway'

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

export const plainOperations: Readonly<Record<string, Operation>> = {
  'GET /client/v4/oauth/scopes': {
    id: 'listOAuthScopes',
    tag: 'OAuth clients',
    summary: 'List the scopes that OAuth clients can ask for',
    description: 'Any token may ask.',
    hasToken: true,
    answer: json(page(named('OAuthScope'))),
  },
  'GET /client/v4/openapi.json': {
    id: 'getOpenApi',
    tag,
    summary: 'Show this document',
    answer: json({ type: 'object', required: ['openapi', 'info', 'paths'] }),
  },
  'GET /': {
    id: 'getHome',
    tag,
    summary: 'Show how the gateway is, and what there is to see',
    description: 'As a page, or as JSON where Accept prefers that.',
    answer: {
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
    tag,
    summary: 'Tell whether the gateway lives',
    answer: json(open({ status: exactly('alive') })),
  },
  'GET /readyz': {
    id: 'isReady',
    tag,
    summary: 'Tell whether traffic is welcome',
    description:
      'While the store is away the gateway serves from what it remembers, and while the store refuses writes nothing can be changed: it is degraded, and ready.',
    answer: json(open({ status: oneOf(['ready', 'degraded']) }, { reason: text })),
    refusals: [
      {
        status: 503,
        faults: [],
        description: 'Traffic is not welcome.',
        content: {
          'application/json': open({
            status: exactly('unready'),
            reason: oneOf(['starting', 'draining', 'no worker is up']),
          }),
        },
      },
    ],
  },
  'GET /metrics': {
    id: 'getMetrics',
    tag,
    summary: 'Show metrics in the text format of Prometheus',
    description:
      'By `management.metrics` they may need a token with the permission `Metrics Read`, of any account: as it comes, where the side port is not on loopback, or the request came through a proxy.',
    hasToken: 'maybe',
    answer: { content: { [metricsContentType]: text } },
    refusals: [unauthorized, forbidden, storeAway, bug],
  },
  'GET /errors': {
    id: 'listErrors',
    tag,
    summary: 'List the errors that the gateway answers with',
    description: 'In the format that Accept asks for.',
    answer: inAnyFormat(open({ errors: listOf(documentedError) })),
  },
  'GET /errors/{code}': {
    id: 'getError',
    tag,
    summary: 'Explain an error',
    description: 'In the format that Accept asks for.',
    answer: inAnyFormat(documentedError),
  },
}

function inAnyFormat(schema: ReturnType<typeof open>): Operation['answer'] {
  const { content } = json(schema)
  return {
    content: {
      'application/json; charset=utf-8': content['application/json']!,
      'text/markdown; charset=utf-8': text,
      'text/html; charset=utf-8': text,
    },
  }
}
