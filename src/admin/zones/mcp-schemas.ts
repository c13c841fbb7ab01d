// The schema of what an MCP server was asked, in responses.

import { about, listOf, open, orNull, text, whole } from '../schema/schema.ts'
import { maxShown } from './mcp-routes.ts'

const results = {
  answered: whole(0),
  refused: about('By the gateway.', whole(0)),
  failed: about(
    'At the server, on the way to it, or with an error as the result that the server sent.',
    whole(0),
  ),
  cancelled: about('Whose client closed its stream.', whole(0)),
}

const message = {
  method: about('`other` for what no revision has, `unread` for what was refused before it was read.', text),
  name: about(
    'Of the tool or prompt; `other` for those that the server is not known to have, null for none.',
    orNull(text),
  ),
}

export const mcpRoute = open({
  route: about('The path of the route.', text),
  pool: orNull(text),
  messages: about(
    'Those with the most messages.',
    listOf(
      open({
        ...message,
        ...results,
        mean_ms: about(
          'From the head to the end of the response, without what was refused.',
          orNull(whole(0)),
        ),
      }),
      0,
      maxShown,
    ),
  ),
  callers: about(
    'Those with the most requests, if a gate says who they are.',
    listOf(
      open({ subject: about('`other` for callers beyond 200 an hour.', text), ...results }),
      0,
      maxShown,
    ),
  ),
  refusals: about(
    'The most frequent.',
    listOf(
      open({
        ...message,
        reason: about(
          'As the cause in the access log: a rule, a limit or a gate; or the name of the error.',
          text,
        ),
        count: whole(1),
      }),
      0,
      maxShown,
    ),
  ),
})
