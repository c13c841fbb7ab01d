// Schemas of API tokens, in requests and in responses.

import { permissionGroups } from '../../permissions/permission-groups.ts'
import {
  about,
  closed,
  emailVerified,
  exactly,
  flag,
  id,
  listOf,
  type Members,
  named,
  oneOf,
  open,
  orNull,
  printable,
  type Schema,
  text,
  time,
  writtenTime,
} from '../schema/schema.ts'
import { shownSpendLimits, spendLimits } from '../spend-limits/schemas.ts'
import { gatewayPattern, maxPatterns, modelPattern, resourcePrefix } from './body.ts'

const setByServer = about('As responses show it; set by the server.')
const groupId = oneOf(permissionGroups.map(({ id }) => id))
const groupName = oneOf(permissionGroups.map(({ name }) => name))

const resources: Schema = {
  type: 'object',
  description: 'The account in the path, as `svc.api.account.` and its id, and `*`.',
  patternProperties: { [`^${resourcePrefix.replaceAll('.', '\\.')}[0-9a-f]{32}$`]: exactly('*') },
  additionalProperties: false,
  minProperties: 1,
  maxProperties: 1,
}

const shownResources: Schema = { type: 'object', additionalProperties: exactly('*') }

export const policy = open({
  id,
  effect: oneOf(['allow', 'deny']),
  permission_groups: listOf(open({ id: groupId, name: groupName })),
  resources: shownResources,
})

const writtenGroup = {
  ...closed({}, { id: groupId, name: groupName }),
  description: 'By its id, by its name, or by both.',
  minProperties: 1,
}

const writtenPolicy = closed(
  {
    effect: oneOf(['allow', 'deny']),
    permission_groups: listOf(writtenGroup, 1, permissionGroups.length),
    resources,
  },
  { id: setByServer },
)

const network: Schema = {
  ...text,
  description: 'An address, or a network such as 192.0.2.0/24 or 2001:db8::/32.',
  pattern: '^[0-9A-Fa-f:.]+(?:/(?:0|[1-9][0-9]{0,2}))?$',
}

const star = 'A name, in which `*` stands for any text.'
const gatewayPatterns: Schema = { ...text, description: star, pattern: gatewayPattern.source }
const modelPatterns: Schema = { ...text, description: star, pattern: modelPattern.source }

const condition = closed(
  {},
  { request_ip: closed({}, { in: listOf(network, 1, 200), not_in: listOf(network, 0, 200) }) },
)

const settings: Members = { name: printable(120), policies: listOf(writtenPolicy, 1, 50) }

const limits: Members = {
  condition: about('Where it may be used from; anywhere by default.', condition),
  expires_on: about('When it expires; never by default.', orNull(writtenTime)),
  gateways: about(
    'The AI gateways that it may call, by their ids; all by default.',
    orNull(listOf(gatewayPatterns, 1, maxPatterns)),
  ),
  models: about(
    'The models that it may call: as the log names them, such as openai/gpt-4o, or the names of aliases and dynamic routes (dynamic/NAME), which include all that they lead to. All by default.',
    orNull(listOf(modelPatterns, 1, maxPatterns)),
  ),
  not_before: about('When it becomes valid; immediately by default.', orNull(writtenTime)),
  spend_limits: about(
    'What its calls may cost, use and hold open, on all gateways with authentication together; no limits of its own by default.',
    spendLimits('token'),
  ),
}

export const newToken = closed(settings, limits)

export const changedToken = closed(settings, {
  ...limits,
  status: about('Unchanged if left out.', oneOf(['active', 'disabled'])),
  id: about('The id in the path.', id),
  issued_on: about('As responses show it; read-only.'),
  modified_on: setByServer,
  last_used_on: setByServer,
  person: setByServer,
})

const shownLimits: Members = { expires_on: time, not_before: time }
const shownCalls: Members = {
  gateways: listOf(text),
  models: listOf(text),
  spend_limits: shownSpendLimits,
}
const status = oneOf(['active', 'disabled', 'expired'])

const shown: Members = {
  id,
  name: text,
  status,
  policies: listOf(named('Policy')),
  issued_on: time,
  modified_on: time,
}

const person = about(
  'The member who made it for themselves: it runs models alone, and no more than they may.',
  open({ id, email: text, email_verified: emailVerified }),
)

const shownCondition = open({ request_ip: open({}, { in: listOf(text), not_in: listOf(text) }) })

export const value: Schema = {
  ...text,
  description: 'The value of the token. It is shown only once.',
  pattern: '^svct_[A-Za-z0-9_-]{60}$',
}

export const token = open(shown, {
  condition: shownCondition,
  person,
  ...shownCalls,
  ...shownLimits,
  last_used_on: about('To the hour, and not before it was created; absent until a use is recorded.', time),
})

export const createdToken = open(
  { ...shown, value },
  { condition: shownCondition, person, ...shownCalls, ...shownLimits },
)

export const verifiedToken = open({ id, status }, shownLimits)

export const permissionGroup = open({
  id: groupId,
  name: groupName,
  category: text,
  description: text,
  scopes: listOf(text),
  is_selectable: about('Whether the token of this request could grant it.', flag),
})
