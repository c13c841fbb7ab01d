// Schemas of a zone in responses.

import { errorPageTypes } from '../../config/model/custom-errors-config.ts'
import { about, flag, id, listOf, number, oneOf, open, orNull, text, whole } from '../schema/schema.ts'

const ms = about('In ms.', whole(0))
const names = listOf(text)

const route = open({
  path: about('The prefix of the paths that lead here.', text),
  pool: orNull(text),
  is_authorization_server: about('Whether the authorization server of this gateway serves it.', flag),
  host: about('The `Host` that origins get: `preserve`, `origin`, or this one.', text),
  body_limit: about('In bytes.', whole(0)),
  redirects: about('How many redirects of the origin are followed.', whole(0)),
  timeouts: about(
    'In ms; 0 is off.',
    open({ connect: ms, handshake: ms, response: ms, write: ms, idle: ms, total: ms }),
  ),
  rate_limits: about('The names of those of this route alone.', names),
  rewrite: about(
    'What is rewritten: the expression for the path, and the names of headers.',
    orNull(open({ path: orNull(text), request_headers: names, response_headers: names })),
  ),
})

const pool = open({
  name: text,
  origins: about('How many it has.', whole(0)),
  balance: oneOf(['round_robin', 'least_outstanding', 'hash']),
  balance_header: about('The header whose hash decides; null for the address of the client.', orNull(text)),
  retries: open({ most: whole(0), budget: number }),
  ejection: orNull(open({ failures: whole(1), base: ms, longest: ms })),
  check: orNull(
    open({
      path: text,
      host: orNull(text),
      interval: ms,
      timeout: ms,
      healthy: whole(1),
      unhealthy: whole(1),
      least: whole(100, 599),
      most: whole(100, 599),
    }),
  ),
  slow_start: ms,
})

export const zone = open({
  id: about('The name: zones have no other id.', text),
  name: text,
  account: about('The account that owns it.', open({ id, name: text })),
  status: oneOf(['active', 'paused']),
  paused: flag,
  hosts: names,
  is_default: about('Whether it serves the hosts of no zone.', flag),
  routes: listOf(route),
  pools: about('Those that its routes lead to.', listOf(pool)),
  access: open({
    file_rules: about('How many access rules the configuration file has for it.', whole(0)),
    default: about('What happens to requests that no rule matches.', oneOf(['allow', 'deny'])),
    ban: orNull(open({ refusals: whole(1), within: ms, lasts: ms })),
    lists: about('The lists of addresses that its rules may name.', names),
    has_geo: about('Whether its rules may ask for countries and autonomous systems.', flag),
  }),
  rate_limits: about('The names of those for all of its routes.', names),
  quota: about('Requests per day and month (UTC).', open({ day: orNull(whole(0)), month: orNull(whole(0)) })),
  errors: open({
    file_rules: about('How many error rules the configuration file has for it.', whole(0)),
    file_pages: about('The types of its error pages in the file.', listOf(oneOf(errorPageTypes))),
  }),
})
