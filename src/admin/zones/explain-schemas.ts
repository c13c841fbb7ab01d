// Schemas of a request to explain, and of its explanation.

import { contentCodings } from '../../config/model/compression-config.ts'
import { contentSources, outcomes, ruleKinds, stepVerdicts } from '../../zones/explanation.ts'
import {
  about,
  closed,
  flag,
  listOf,
  number,
  oneOf,
  open,
  orNull,
  type Schema,
  text,
  whole,
} from '../schema/schema.ts'
import { maxBodySize, maxBodyLength, maxCertificateLength, maxLineLength } from './explain-body.ts'
import { originStates } from '../facts/zone-facts.ts'

const line = { ...text, maxLength: maxLineLength, pattern: '^[^\\r\\n\\x00]*$' }
const address = { ...text, anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] }
const value = { ...text, maxLength: 8192 }

const members = closed(
  {
    host: about('The value of Host.', line),
    address: about(
      'Where the connection comes from; behind a trusted proxy, its header fields say more.',
      address,
    ),
  },
  {
    path: about('The path with its query, an absolute URL, or `*`; `/` if absent.', line),
    method: about('`GET` if absent.', line),
    headers: about(
      'Header fields: a value or a list of values by name. Values are never in the explanation.',
      { type: 'object', maxProperties: 100, additionalProperties: { anyOf: [value, listOf(value, 1, 100)] } },
    ),
    body: about('The body of an AI call, which may name its model.', { ...text, maxLength: maxBodyLength }),
    body_size: about('Bytes of a body that is not given.', whole(0, maxBodySize)),
    client_certificate: about('The certificate of the client in PEM, taken for one that the zone accepts.', {
      ...text,
      maxLength: maxCertificateLength,
    }),
  },
)

export const question: Schema = { ...members, not: { required: ['body', 'body_size'] } }

const rule = open({
  kind: oneOf(ruleKinds),
  name: orNull(text),
  id: about('Of a rule that the API has set.', orNull(text)),
  number: about('Its number among the access rules of the file.', orNull(whole(1))),
  zone: about('`null` for what is set for all zones.', orNull(text)),
  set_by: oneOf(['file', 'api']),
  line: about('Its line in the configuration file.', orNull(whole(1))),
  description: orNull(text),
})

const error = open({
  code: whole(100),
  name: text,
  title: text,
  message: about('For callers of AI routes.', orNull(text)),
})

const step = open({
  number: whole(1),
  step: text,
  title: text,
  verdict: about('`depends`: on the body, which is not given.', oneOf(stepVerdicts)),
  reason: text,
  error: orNull(error),
  rule: orNull(rule),
  compared: listOf(open({ what: text, value: orNull(text), with: orNull(text) })),
})

const limit = open({
  kind: oneOf(['rate_limit', 'quota', 'gateway_rate_limit']),
  name: text,
  line: orNull(whole(1)),
  action: oneOf(['block', 'log']),
  verdict: oneOf(['within', 'over']),
  key: about(
    'What it counts by; values of tokens and header fields are never shown.',
    listOf(open({ by: text, value: orNull(text) })),
  ),
  limit: whole(1),
  period: text,
  used: about('`null`, as the next two: it counts requests to zones of others too.', orNull(whole(0))),
  left: orNull(whole(0)),
  resets_in: about('In seconds.', orNull(whole(1))),
})

const named = open({ id: text, name: text })

const gateway = open({
  api: oneOf(['rest', 'compat', 'native']),
  gateway: orNull(text),
  authentication_required: orNull(flag),
  authenticated: flag,
  provider: orNull(text),
  model: orNull(text),
  policies: about(
    'What the policies of the gateway decide; null if none are in effect, or the call does not get that far.',
    orNull(
      open({
        decision: oneOf(['allow', 'block', 'no_match']),
        policy: about('The one that decides.', orNull(named)),
        limits: about(
          'In which the call counts.',
          listOf(
            open({
              policy: named,
              amount: { ...number, minimum: 0 },
              period: oneOf(['hourly', 'daily', 'weekly', 'monthly']),
            }),
          ),
        ),
      }),
    ),
  ),
})

const route = open({
  path: text,
  line: orNull(whole(1)),
  pool: orNull(text),
  body_limit: about('In bytes; null for no limit.', orNull(whole(0))),
  redirects: about('How many are followed.', whole(0)),
  timeouts: about('In ms; 0 is off.', { type: 'object', additionalProperties: whole(0) }),
  retries: open({ most: whole(0), statuses: listOf(whole(100, 999)) }),
})

const pool = open({
  pool: text,
  balance: text,
  origins: listOf(
    open({
      url: text,
      weight: number,
      share: { ...number, minimum: 0, maximum: 1 },
      state: oneOf(originStates),
      outstanding: whole(0),
      is_next: flag,
    }),
  ),
})

const forward = open({
  origin: text,
  http: about(
    'The version that is set for the origin: with `2`, the TLS handshake may still agree on 1.',
    oneOf(['1', '2', 'h2c']),
  ),
  method: text,
  host: orNull(text),
  path: orNull(text),
  query: oneOf(['none', 'kept', 'changed']),
  fields: listOf(open({ name: text, change: oneOf(['added', 'changed', 'removed']), value: orNull(text) })),
  response_fields: listOf(open({ name: text, change: oneOf(['set', 'removed']) })),
})

const compression = open({
  encoding: about('`null` where the response passes as it is.', orNull(oneOf(contentCodings))),
  reason: text,
  condition: about(
    'What the response must be to be compressed.',
    orNull(
      open({
        types: listOf(text),
        minimum: about('In bytes, where the length of the response is known.', whole(0)),
      }),
    ),
  ),
})

const response = open({
  status: whole(100, 999),
  content_type: orNull(text),
  retry_after: orNull(whole(1)),
  content: about(
    "The operator's content that is shown; needs `Custom Errors Read`.",
    orNull(
      open({
        source: oneOf(contentSources),
        rule_id: orNull(text),
        line: orNull(whole(1)),
        page: orNull(text),
        description: orNull(text),
      }),
    ),
  ),
})

export const explanation = open({
  outcome: oneOf(outcomes),
  zone: about('`null` where the host leads to no zone.', orNull(text)),
  client: open({ address: text, country: orNull(text), asn: orNull(whole(1)), is_proxy: flag }),
  steps: about('All steps of the gateway, in their order.', listOf(step)),
  limits: about(
    'Those that would count the request, as one process of the gateway knows them; need `Zones Read`, and of a gateway `AI Gateway Read`.',
    listOf(limit),
  ),
  gateway: about('Of an AI call; needs `AI Gateway Read`.', orNull(gateway)),
  route: about('Needs `Zones Read`.', orNull(route)),
  pool: about('Needs `Origins Read`.', orNull(pool)),
  forward: about('The request as the origin would get it; needs `Origins Read`.', orNull(forward)),
  compression: about(
    "Whether the origin's response would be compressed; `null` where no origin is asked; needs `Zones Read`.",
    orNull(compression),
  ),
  response: about('What the gateway itself would respond.', orNull(response)),
})
